package opensandbox

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// details gives the problems of a 422 answer as "loc: type: msg".
func (a answer) details() []string {
	a.t.Helper()
	var lines []string
	for _, detail := range a.want(http.StatusUnprocessableEntity).objects("detail") {
		steps, _ := detail["loc"].([]any)
		loc := make([]string, len(steps))
		for i, step := range steps {
			loc[i] = fmt.Sprint(step)
		}
		lines = append(lines, fmt.Sprintf("%s: %v: %v", strings.Join(loc, "."), detail["type"], detail["msg"]))
	}
	return lines
}

// "body-model failures are 422 {"detail":[...]}", each with its place, all of them at once.
func TestCreateBodyIsHeldAgainstTheModel(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	volume := func(more object) []object {
		v := object{"name": "data", "mountPath": "/data"}
		for key, value := range more {
			v[key] = value
		}
		return []object{v}
	}
	const noSource = "body: value_error: Value error, Exactly one of image or snapshotId must be provided."
	for name, test := range map[string]struct {
		change object
		want   []string
	}{
		"timeout too short":       {object{"timeout": 59}, []string{"body.timeout: greater_than_equal: Input should be greater than or equal to 60"}},
		"timeout with a fraction": {object{"timeout": 60.5}, []string{"body.timeout: int_from_float: Input should be a valid integer, got a number with a fractional part"}},
		"timeout no number":       {object{"timeout": "soon"}, []string{"body.timeout: int_parsing: Input should be a valid integer, unable to parse string as an integer"}},
		"no source":               {object{"image": nil}, []string{noSource}},
		"blank image":             {object{"image": object{"uri": " "}}, []string{noSource}},
		"two sources":             {object{"snapshotId": "s"}, []string{noSource}},
		"no uri":                  {object{"image": object{}}, []string{"body.image.uri: missing: Field required"}},
		"image is text":           {object{"image": "busybox"}, []string{"body.image: model_attributes_type: Input should be a valid dictionary or object to extract fields from"}},
		"auth without password":   {object{"image": object{"uri": "a", "auth": object{"username": "u"}}}, []string{"body.image.auth.password: missing: Field required"}},
		"no entrypoint":           {object{"entrypoint": nil}, []string{"body: value_error: Value error, Entrypoint is required when image is provided."}},
		"empty entrypoint":        {object{"entrypoint": []string{}}, []string{"body.entrypoint: too_short: List should have at least 1 item after validation, not 0"}},
		"entrypoint of numbers":   {object{"entrypoint": []int{1}}, []string{"body.entrypoint.0: string_type: Input should be a valid string"}},
		"no resources":            {object{"resourceLimits": nil}, []string{"body: value_error: Value error, resourceLimits is required when poolRef is not provided."}},
		"resource as a number":    {object{"resourceLimits": object{"cpu": 1}}, []string{"body.resourceLimits.cpu: string_type: Input should be a valid string"}},
		"env as a list":           {object{"env": []string{"A=1"}}, []string{"body.env: dict_type: Input should be a valid dictionary"}},
		"metadata null value":     {object{"metadata": object{"a": nil}}, []string{"body.metadata.a: string_type: Input should be a valid string"}},
		"rule without target":     {object{"networkPolicy": object{"egress": []object{{"action": "allow"}}}}, []string{"body.networkPolicy.egress.0.target: missing: Field required"}},
		"rule with empty target":  {object{"networkPolicy": object{"egress": []object{{"action": "allow", "target": ""}}}}, []string{"body.networkPolicy.egress.0.target: string_too_short: String should have at least 1 character"}},
		"proxy without policy":    {object{"credentialProxy": object{"enabled": true}}, []string{"body: value_error: Value error, credentialProxy.enabled requires networkPolicy."}},
		"secureAccess is null":    {object{"secureAccess": nil, "platform": object{}}, []string{"body.platform.os: missing: Field required", "body.platform.arch: missing: Field required"}},
		"volume name":             {object{"volumes": volume(object{"name": "No_Good", "host": object{"path": "/a"}})}, []string{"body.volumes.0.name: string_pattern_mismatch: String should match pattern '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'"}},
		"volume without backend":  {object{"volumes": volume(nil)}, []string{"body.volumes.0: value_error: Value error, Exactly one backend (host, pvc, ossfs) must be specified, but none was provided."}},
		"volume with two":         {object{"volumes": volume(object{"host": object{"path": "/a"}, "pvc": object{"claimName": "c"}})}, []string{"body.volumes.0: value_error: Value error, Exactly one backend (host, pvc, ossfs) must be specified, but multiple were provided."}},
		"ossfs version":           {object{"volumes": volume(object{"ossfs": object{"bucket": "abc", "endpoint": "e", "version": "3", "accessKeyId": "i", "accessKeySecret": "s"}})}, []string{"body.volumes.0.ossfs.version: literal_error: Input should be '1.0' or '2.0'"}},
		"ossfs without keys":      {object{"volumes": volume(object{"ossfs": object{"bucket": "abc", "endpoint": "e"}})}, []string{"body.volumes.0.ossfs: value_error: Value error, OSSFS inline credentials are required: accessKeyId and accessKeySecret."}},
	} {
		if got := c.do("POST", "/v1/sandboxes", plain(test.change)).details(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
	c.do("POST", "/v1/sandboxes", `{"image":`).details()
	c.do("POST", "/v1/sandboxes", `[]`).details()
	c.do("POST", "/v1/sandboxes", "").details()
	c.do("POST", "/v1/sandboxes", "text", "Content-Type", "text/plain").details()
	if n := len(c.service.Sandboxes()); n != 0 {
		t.Errorf("%d sandboxes were made", n)
	}
}

// "422 echoes input, for whole-body errors the full request with its env secrets: never print input".
func TestValidationEchoesTheInput(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	got := c.do("POST", "/v1/sandboxes", plain(object{"entrypoint": nil, "env": object{"TOKEN": "hunter2"}}))
	got.details()
	if !strings.Contains(got.String(), "hunter2") || !strings.Contains(got.String(), `"ctx":{"error":{}}`) {
		t.Errorf("the input isn't echoed: %s", got)
	}
	got = c.do("POST", "/v1/sandboxes", plain(object{"timeout": 59}))
	if !strings.Contains(got.String(), `"input":59,"ctx":{"ge":60}`) {
		t.Errorf("the input isn't echoed: %s", got)
	}
}

// What the model can't say is a 400 with a code: limits of the server, rules of labels, what a Docker server lacks.
func TestCreateIsHeldAgainstTheServersRules(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{MaxTimeout: 3600, NoEgress: true, AllowedHostPaths: []string{"/srv"}})
	volumes := func(more ...object) object { return object{"volumes": more} }
	host := func(path string) object {
		return volumes(object{"name": "a", "mountPath": "/a", "host": object{"path": path}})
	}
	label := func(key, value string) object { return object{"metadata": object{key: value}} }
	extension := func(key, value string) object { return object{"extensions": object{key: value}} }
	const parameter, labelCode = "SANDBOX::INVALID_PARAMETER", "SANDBOX::INVALID_METADATA_LABEL"
	for name, test := range map[string]struct {
		change object
		code   string
	}{
		"timeout above the maximum": {object{"timeout": 3601}, parameter},
		"platform os":               {object{"platform": object{"os": "plan9", "arch": "amd64"}}, parameter},
		"platform arch":             {object{"platform": object{"os": "linux", "arch": "mips"}}, parameter},
		"policy without sidecar":    {object{"networkPolicy": object{}}, parameter},
		"secure access":             {object{"secureAccess": true}, parameter},
		"pool":                      {extension("poolRef", "p"), "SANDBOX::UNSUPPORTED_POOL_REF"},
		"renew too often":           {extension("access.renew.extend.seconds", "299"), parameter},
		"renew too seldom":          {extension("access.renew.extend.seconds", "86401"), parameter},
		"renew no number":           {extension("access.renew.extend.seconds", "soon"), parameter},
		"reserved key":              {label("opensandbox.io/id", "x"), labelCode},
		"key with a space":          {label("a b", "x"), labelCode},
		"key too long":              {label(strings.Repeat("a", 64), "x"), labelCode},
		"prefix in capitals":        {label("Example.com/a", "x"), labelCode},
		"empty prefix":              {label("/a", "x"), labelCode},
		"value with a space":        {label("a", "x y"), labelCode},
		"value too long":            {label("a", strings.Repeat("x", 64)), labelCode},
		"value ends in a dot":       {label("a", "x."), labelCode},
		"two volumes of one name": {volumes(object{"name": "a", "mountPath": "/a", "pvc": object{"claimName": "c"}},
			object{"name": "a", "mountPath": "/b", "pvc": object{"claimName": "c"}}), "VOLUME::DUPLICATE_NAME"},
		"sub path climbs":     {volumes(object{"name": "a", "mountPath": "/a", "subPath": "x/../y", "pvc": object{"claimName": "c"}}), "VOLUME::INVALID_SUB_PATH"},
		"host path elsewhere": {host("/etc"), "VOLUME::HOST_PATH_NOT_ALLOWED"},
		"host path beside":    {host("/srvx"), "VOLUME::HOST_PATH_NOT_ALLOWED"},
		"host path climbs":    {host("/srv/../etc"), "VOLUME::INVALID_HOST_PATH"},
		"host path slashes":   {host("/srv//a"), "VOLUME::INVALID_HOST_PATH"},
		"claim is missing":    {volumes(object{"name": "a", "mountPath": "/a", "pvc": object{"claimName": "c", "createIfNotExists": false}}), "VOLUME::PVC_NOT_FOUND"},
		"ossfs option": {volumes(object{"name": "a", "mountPath": "/a", "ossfs": object{"bucket": "abc", "endpoint": "e", "options": []string{"-o"},
			"accessKeyId": "i", "accessKeySecret": "s"}}), "VOLUME::INVALID_OSSFS_OPTION"},
	} {
		if got := c.do("POST", "/v1/sandboxes", plain(test.change)); got.status != http.StatusBadRequest || got.text("code") != test.code {
			t.Errorf("%s: %d %s", name, got.status, got)
		}
	}
	for name, change := range map[string]object{
		"prefix of 253": label(strings.Repeat("a", 253)+"/b", ""),
		"empty value":   label("a", ""),
		"host allowed":  host("/srv/data"),
		"maximum":       {"timeout": 3600},
		"null timeout":  {"timeout": nil},
	} {
		if got := c.do("POST", "/v1/sandboxes", plain(change)); got.status != http.StatusAccepted {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// "Silently accepted: unknown fields, cpu "abc" (no limit is set), defaultAction: "maybe""; the mirror drops what the newer knows.
func TestWhatIsSilentlyAccepted(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{
		"colour": "red", "resourceLimits": object{"cpu": "abc", "memory": "lots", "disk": "1Gi"}, "networkPolicy": object{"defaultAction": "maybe"},
		"resourceRequests": object{"cpu": "1"}, "lifecycle": object{"preStart": object{"command": []string{"false"}}},
		"volumes": []object{{"name": "opensandbox-bin", "mountPath": "/x", "pvc": object{"claimName": "c"}}},
	})
	sandbox, _ := c.service.Sandbox(id)
	if sandbox.Policy.DefaultAction != "maybe" || sandbox.Request.ResourceRequests != nil || sandbox.Request.PreStart != nil {
		t.Errorf("kept: %+v", sandbox)
	}
	if want := map[string]string{"cpu": "abc", "memory": "lots"}; !reflect.DeepEqual(sandbox.Limits, want) {
		t.Errorf("Docker reads cpu, memory and gpu only: %v", sandbox.Limits)
	}
	if c.state(id) != "Running" {
		t.Error("the dropped hook was run")
	}
}

// What a create asked for can be read, its secrets only compared.
func TestRequestIsKeptForTests(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{
		"image": object{"uri": "r.example/a:1", "auth": object{"username": "u", "password": "p4ss"}}, "env": object{"A": "1", "B": nil},
		"timeout": 600, "platform": object{"os": "Linux", "arch": "ARM64"}, "extensions": object{"imagePullPolicy": "Always"},
		"volumes": []object{{"name": "o", "mountPath": "/o", "readOnly": true, "subPath": "s", "ossfs": object{"bucket": "abc", "endpoint": "e", "accessKeyId": "i", "accessKeySecret": "s3cret"}}},
	})
	sandbox, _ := c.service.Sandbox(id)
	request := sandbox.Request
	if request.Image.Username != "u" || !request.Image.Password.Is("p4ss") || !request.Image.Password.Given() {
		t.Errorf("image auth: %+v", request.Image)
	}
	if !reflect.DeepEqual(request.Env, map[string]string{"A": "1"}) || request.Timeout != 600 || *request.Platform != (Platform{"linux", "arm64"}) {
		t.Errorf("request: %+v", request)
	}
	if v := request.Volumes[0]; !v.ReadOnly || v.SubPath != "s" || v.OSSFS.Version != "2.0" || !v.OSSFS.AccessKeySecret.Is("s3cret") {
		t.Errorf("volume: %+v", v)
	}
	for _, text := range []string{printed(request), printed(request.Image.Password)} {
		if strings.Contains(text, "p4ss") || strings.Contains(text, "s3cret") {
			t.Errorf("a secret is printed: %s", text)
		}
	}
}
