package opensandboxsandbox_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const image = `image = "busybox"`

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	policy := values{"network_policy": values{"default_action": "deny"}}
	platform := values{"os": "linux", "arch": "amd64"}
	volume := func(more values) values {
		return values{"volume": []any{with(values{"name": "data", "mount_path": "/data"}, more)}}
	}
	host := func(path string) values { return values{"host": values{"path": path}} }
	resources := func(more values) values { return values{"resources": more} }
	period := values{"name": "p", "schedule": "* * * * *", "command": []string{"true"}}
	hook := values{"pre_start": values{"command": []string{"true"}}}
	pool := func(more values) values { return with(values{"image": nil, "pool_ref": "p"}, more) }
	for title, c := range map[string]struct {
		more values // laid over an image
		says string
	}{
		"no source":          {values{"image": nil}, `exactly one of image, snapshot_id, pool_ref; this one has none`},
		"two sources":        {values{"snapshot_id": "s"}, `this one has image and snapshot_id`},
		"empty image":        {values{"image": ""}, `string length must be at least 1`},
		"auth without image": {values{"image": nil, "snapshot_id": "s", "image_auth": values{"username": "u", "password_wo": "p"}}, `image_auth needs image`},
		"short ttl":          {values{"ttl_seconds": 59}, `at least 60`},
		"fraction":           {values{"ttl_seconds": 90.5}, `90.5 is not a whole number`},
		"renew without ttl":  {values{"renew_below_seconds": 60}, `renew_below_seconds needs ttl_seconds`},
		"renew always":       {values{"ttl_seconds": 600, "renew_below_seconds": 600}, `renew_below_seconds isn't less than ttl_seconds`},
		"port 0":             {values{"exposed_ports": []int{0}}, `0 is not from 1 to 65535`},
		"vnc port":           {values{"vnc_port": 70000}, `between 1 and 65535`},
		"reserved key":       {values{"metadata": values{"opensandbox.io/id": "x"}}, `begin with opensandbox.io/ for itself`},
		"own key":            {values{"metadata": values{"agentenv.dev/create-id": "x"}}, `so it is taken`},
		"bad key":            {values{"metadata": values{"no spaces": "x"}}, `The server doesn't take the key "no spaces"`},
		"bad prefix":         {values{"metadata": values{"UPPER/x": "x"}}, `lowercase DNS name`},
		"null metadata":      {values{"metadata": values{"a": nil}}, `Metadata is null`},
		"null variable":      {values{"env": values{"A": nil}}, `Variable is null`},
		"bad variable":       {values{"env": values{"A=B": "x"}}, `Variable can't be set`},
		"empty entrypoint":   {values{"entrypoint": []string{}}, `at least 1`},
		"null in entrypoint": {values{"entrypoint": []any{"sh", nil}}, `Null element`},
		"negative cpu":       {resources(values{"cpu": -1}), `-1 is less than 0`},
		"fraction of memory": {resources(values{"memory_mib": 1.5}), `1.5 is not a whole number`},
		"no quantity":        {resources(values{"extended": values{"nvidia.com/gpu": "abc"}}), `"abc" is not an amount`},
		"cpu in extended":    {resources(values{"extended": values{"cpu": "1"}}), `has an attribute of its own: cpu`},
		"odd platform":       {values{"platform": values{"os": "plan9", "arch": "amd64"}}, `must be one of`},
		"policy of nothing":  {values{"network_policy": values{}}, `network_policy has no default_action`},
		"policy of maybe":    {values{"network_policy": values{"default_action": "maybe"}}, `must be one of`},
		"proxy alone":        {values{"credential_proxy": true}, `credential_proxy needs network_policy`},
		"odd pull policy":    {values{"image_pull_policy": "Sometimes"}, `must be one of`},
		"two pull policies":  {values{"image_pull_policy": "Always", "extensions": values{"imagePullPolicy": "Never"}}, `Two image pull policies`},
		"renew extension":    {values{"extensions": values{"access.renew.extend.seconds": "299"}}, `from 300 to 86400`},
		"pool extension":     {values{"extensions": values{"poolRef": "p"}}, `Set pool_ref instead`},
		"null extension":     {values{"extensions": values{"a": nil}}, `Extension is null`},
		"volume of nothing":  {volume(nil), `this one has none`},
		"volume of two":      {volume(with(host("/a"), values{"pvc": values{"claim_name": "c"}})), `this one has host and pvc`},
		"volume's host":      {volume(values{"host": values{}}), `host has no path`},
		"volume's claim":     {volume(values{"pvc": values{}}), `pvc has no claim_name`},
		"volume's secret":    {volume(values{"ossfs": values{"bucket": "abc", "endpoint": "e", "access_key_id": "i"}}), `ossfs has no access_key_secret_wo`},
		"option's dash":      {volume(values{"ossfs": values{"bucket": "abc", "endpoint": "e", "access_key_id": "i", "access_key_secret_wo": "s", "options": []string{"-o"}}}), `begin with a dash`},
		"reserved volume":    {volume(with(host("/a"), values{"name": "opensandbox-bin"})), `none of`},
		"twice a volume":     {values{"volume": []any{with(host("/a"), values{"name": "v", "mount_path": "/a"}), with(host("/b"), values{"name": "v", "mount_path": "/b"})}}, `Name is taken`},
		"relative mount":     {volume(with(host("/a"), values{"mount_path": "data"})), `must begin with a slash`},
		"climbing sub path":  {volume(with(host("/a"), values{"sub_path": "../x"})), `must be relative, and without ".."`},
		"hook of nothing":    {values{"pre_start": values{}}, `pre_start has no command`},
		"long hook":          {values{"pre_start": values{"command": []string{"true"}, "timeout_seconds": 10801}}, `between 1 and 10800`},
		"long period":        {values{"periodic": []any{with(period, values{"timeout_seconds": 301})}}, `between 1 and 300`},
		"twice a period":     {values{"periodic": []any{period, period}}, `Name is taken`},
		"pool and snapshot":  {pool(values{"snapshot_id": "s"}), `this one has snapshot_id and pool_ref`},
		"pool and policy":    {pool(policy), `network_policy can't be set with pool_ref`},
		"pool and platform":  {pool(values{"platform": platform}), `platform can't be set with pool_ref`},
		"pool and volume":    {pool(volume(host("/a"))), `volume can't be set with pool_ref`},
		"pool and proxy":     {pool(values{"credential_proxy": true}), `credential_proxy can't be set with pool_ref`},
		"pool and hook":      {pool(hook), `pre_start can't be set with pool_ref`},
		"pool and pulling":   {pool(values{"image_pull_policy": "Always"}), `image_pull_policy can't be set with pool_ref`},
		"file mode":          {values{"files": values{"/a": values{"content": "x", "mode": "rwx"}}}, `Not a file mode`},
		"two contents":       {values{"files": values{"/a": values{"content": "x", "source": "y"}}}, `this one has content and source`},
		"set-user-id":        {values{"files": values{"/a": values{"content": "x", "mode": "4755"}}}, `octal digits from 1 to 777`},
		"a path's variable":  {values{"files": values{"/a/$HOME": values{"content": "x"}}}, `must hold no $`},
		"relative path":      {values{"files": values{"a": values{"content": "x"}}}, `must be one that is an absolute path`},
		"missing source":     {values{"files": values{"/a": values{"source": "/nonexistent/x"}}}, `Source file can't be read`},
		"keep what":          {values{"on_create_failure": "leave"}, `must be one of`},
		"negative timeout":   {values{"timeouts": values{"update": "-5m"}}, `more than 0`},
	} {
		change := b.PlanChange(t.Context(), kind, acctest.Object{}, with(busybox, c.more))
		if said := acctest.Text(change.Diagnostics); change.Attributes != nil || !strings.Contains(said, c.says) {
			t.Errorf("%s: it says %q", title, said)
		}
	}
	same(t, "requests", len(b.server.Faults().Requests()), 0)
}

// What Terraform itself finds in a block, and would let pass in an object.
func TestAccMisspeltKeysAreErrors(t *testing.T) {
	for title, c := range map[string]struct {
		lines []string
		says  string
	}{
		"auth without user":   {[]string{image, `image_auth = { password_wo = "p" }`}, `attribute "username" is required`},
		"misspelt resource":   {[]string{image, "resources {\n memory_mb = 1\n}"}, `Did you mean "memory_mib"`},
		"half a platform":     {[]string{image, `platform = { os = "linux" }`}, `attribute "arch" is required`},
		"misspelt policy":     {[]string{image, "network_policy {\n default_acton = \"deny\"\n}"}, `Did you mean "default_action"`},
		"rule without target": {[]string{image, "network_policy {\n default_action = \"deny\"\n egress {\n action = \"allow\"\n}\n}"}, `argument "target" is required`},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{
				Steps: []resource.TestStep{{Config: box(server, c.lines...), ExpectError: said(c.says)}},
			})
		})
	}
}

func TestAccBadProviderBlockIsRefused(t *testing.T) {
	for title, c := range map[string]struct{ line, says string }{
		"protocol":         {`protocol = "ftp"`, `must be one of`},
		"default metadata": {`default_metadata = { "opensandbox.io/x" = "y" }`, `for itself`},
		"pull policy":      {"create {\n image_pull_policy = \"Sometimes\"\n}", `must be one of`},
		"misspelt":         {"create {\n retires = 1\n}", `Did you mean "retries"`},
		"stable count":     {"probe {\n stable_count = 0\n}", `at least 1`},
		"fraction":         {"operations {\n retries = 0.5\n}", `0.5 is not a whole number`},
		"prefix":           {"attribution {\n key_prefix = \"No Prefix\"\n}", `lowercase DNS name`},
		"certificate":      {`ca_certificate = "no pem"`, `ca_certificate can't be used`},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{
				Steps: []resource.TestStep{{Config: server.Provider(c.line) + resourceOf(image), ExpectError: said(c.says)}},
			})
		})
	}
}

func TestAccWhatBecomesKnownLateIsChecked(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	config := server.Provider() + `resource "terraform_data" "late" {
  input = "opensandbox.io/id"
}
` + resourceOf(image, `metadata = { (terraform_data.late.output) = "x" }`)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{{Config: config, ExpectError: said(`begin with opensandbox.io/ for itself`)}},
	})
	if made := server.Asked("POST", "/sandboxes"); made != 0 {
		t.Errorf("%d creates were sent", made)
	}
}
