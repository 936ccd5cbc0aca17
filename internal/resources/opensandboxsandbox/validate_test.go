package opensandboxsandbox_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
)

const image = `image = "busybox"`

func TestAccBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	policy := "network_policy {\n default_action = \"deny\"\n}"
	volume := func(lines string) string {
		return "volume {\n name = \"data\"\n mount_path = \"/data\"\n" + lines + "\n}"
	}
	for title, c := range map[string]struct {
		lines []string
		says  string
	}{
		"no source":           {[]string{`ttl_seconds = 60`}, `exactly one of image, snapshot_id, pool_ref; this one has none`},
		"two sources":         {[]string{image, `snapshot_id = "s"`}, `this one has image and snapshot_id`},
		"empty image":         {[]string{`image = ""`}, `string length must be at least 1`},
		"auth without image":  {[]string{`snapshot_id = "s"`, `image_auth = { username = "u", password_wo = "p" }`}, `image_auth needs image`},
		"auth without user":   {[]string{image, `image_auth = { password_wo = "p" }`}, `attribute "username" is required`},
		"short ttl":           {[]string{image, `ttl_seconds = 59`}, `at least 60`},
		"fraction":            {[]string{image, `ttl_seconds = 90.5`}, `90.5 is not a whole number`},
		"renew without ttl":   {[]string{image, `renew_below_seconds = 60`}, `renew_below_seconds needs ttl_seconds`},
		"renew always":        {[]string{image, `ttl_seconds = 600`, `renew_below_seconds = 600`}, `renew_below_seconds isn't less than ttl_seconds`},
		"port 0":              {[]string{image, `exposed_ports = [0]`}, `0 is not from 1 to 65535`},
		"vnc port":            {[]string{image, `vnc_port = 70000`}, `between 1 and 65535`},
		"reserved key":        {[]string{image, `metadata = { "opensandbox.io/id" = "x" }`}, `begin with opensandbox.io/ for itself`},
		"own key":             {[]string{image, `metadata = { "agentenv.dev/create-id" = "x" }`}, `so it is taken`},
		"bad key":             {[]string{image, `metadata = { "no spaces" = "x" }`}, `The server doesn't take the key "no spaces"`},
		"bad prefix":          {[]string{image, `metadata = { "UPPER/x" = "x" }`}, `lowercase DNS name`},
		"null metadata":       {[]string{image, `metadata = { a = null }`}, `Metadata is null`},
		"null variable":       {[]string{image, `env = { A = null }`}, `Variable is null`},
		"bad variable":        {[]string{image, `env = { "A=B" = "x" }`}, `Variable can't be set`},
		"empty entrypoint":    {[]string{image, `entrypoint = []`}, `at least 1`},
		"negative cpu":        {[]string{image, "resources {\n cpu = -1\n}"}, `-1 is less than 0`},
		"fraction of memory":  {[]string{image, "resources {\n memory_mib = 1.5\n}"}, `1.5 is not a whole number`},
		"no quantity":         {[]string{image, "resources {\n extended = { \"nvidia.com/gpu\" = \"abc\" }\n}"}, `"abc" is not an amount`},
		"cpu in extended":     {[]string{image, "resources {\n extended = { cpu = \"1\" }\n}"}, `has an attribute of its own: cpu`},
		"misspelt resource":   {[]string{image, "resources {\n memory_mb = 1\n}"}, `Did you mean "memory_mib"`},
		"half a platform":     {[]string{image, `platform = { os = "linux" }`}, `attribute "arch" is required`},
		"odd platform":        {[]string{image, `platform = { os = "plan9", arch = "amd64" }`}, `must be one of`},
		"policy of nothing":   {[]string{image, "network_policy {\n}"}, `network_policy has no default_action`},
		"policy of maybe":     {[]string{image, "network_policy {\n default_action = \"maybe\"\n}"}, `must be one of`},
		"misspelt policy":     {[]string{image, "network_policy {\n default_acton = \"deny\"\n}"}, `Did you mean "default_action"`},
		"rule without target": {[]string{image, "network_policy {\n default_action = \"deny\"\n egress {\n action = \"allow\"\n}\n}"}, `argument "target" is required`},
		"proxy alone":         {[]string{image, `credential_proxy = true`}, `credential_proxy needs network_policy`},
		"odd pull policy":     {[]string{image, `image_pull_policy = "Sometimes"`}, `must be one of`},
		"two pull policies":   {[]string{image, `image_pull_policy = "Always"`, `extensions = { imagePullPolicy = "Never" }`}, `Two image pull policies`},
		"renew extension":     {[]string{image, `extensions = { "access.renew.extend.seconds" = "299" }`}, `from 300 to 86400`},
		"pool extension":      {[]string{image, `extensions = { poolRef = "p" }`}, `Set pool_ref instead`},
		"null extension":      {[]string{image, `extensions = { a = null }`}, `Extension is null`},
		"volume of nothing":   {[]string{image, volume("")}, `this one has none`},
		"volume of two":       {[]string{image, volume("host {\n path = \"/a\"\n}\n pvc {\n claim_name = \"c\"\n}")}, `this one has host and pvc`},
		"volume's host":       {[]string{image, volume("host {\n}")}, `host has no path`},
		"volume's claim":      {[]string{image, volume("pvc {\n}")}, `pvc has no claim_name`},
		"volume's secret":     {[]string{image, volume("ossfs {\n bucket = \"abc\"\n endpoint = \"e\"\n access_key_id = \"i\"\n}")}, `ossfs has no access_key_secret_wo`},
		"reserved volume":     {[]string{image, "volume {\n name = \"opensandbox-bin\"\n mount_path = \"/d\"\n host {\n path = \"/a\"\n}\n}"}, `none of`},
		"twice a volume":      {[]string{image, volume("host {\n path = \"/a\"\n}"), volume("host {\n path = \"/b\"\n}")}, `Name is taken`},
		"relative mount":      {[]string{image, "volume {\n name = \"data\"\n mount_path = \"data\"\n host {\n path = \"/a\"\n}\n}"}, `must begin with a slash`},
		"climbing sub path":   {[]string{image, volume("sub_path = \"../x\"\n host {\n path = \"/a\"\n}")}, `must be relative, and without ".."`},
		"hook of nothing":     {[]string{image, "pre_start {\n}"}, `pre_start has no command`},
		"long hook":           {[]string{image, "pre_start {\n command = [\"true\"]\n timeout_seconds = 10801\n}"}, `between 1 and 10800`},
		"long period":         {[]string{image, "periodic {\n name = \"p\"\n schedule = \"* * * * *\"\n command = [\"true\"]\n timeout_seconds = 301\n}"}, `between 1 and 300`},
		"pool and snapshot":   {[]string{`pool_ref = "p"`, `snapshot_id = "s"`}, `this one has snapshot_id and pool_ref`},
		"pool and policy":     {[]string{`pool_ref = "p"`, policy}, `network_policy can't be set with pool_ref`},
		"pool and platform":   {[]string{`pool_ref = "p"`, `platform = { os = "linux", arch = "amd64" }`}, `platform can't be set with pool_ref`},
		"pool and volume":     {[]string{`pool_ref = "p"`, volume("host {\n path = \"/a\"\n}")}, `volume can't be set with pool_ref`},
		"pool and proxy":      {[]string{`pool_ref = "p"`, `credential_proxy = true`}, `credential_proxy can't be set with pool_ref`},
		"pool and hook":       {[]string{`pool_ref = "p"`, "pre_start {\n command = [\"true\"]\n}"}, `pre_start can't be set with pool_ref`},
		"pool and pulling":    {[]string{`pool_ref = "p"`, `image_pull_policy = "Always"`}, `image_pull_policy can't be set with pool_ref`},
		"file mode":           {[]string{image, `files = { "/a" = { content = "x", mode = "rwx" } }`}, `Not a file mode`},
		"two contents":        {[]string{image, `files = { "/a" = { content = "x", source = "y" } }`}, `this one has content and source`},
		"relative path":       {[]string{image, `files = { "a" = { content = "x" } }`}, `must be one that is an absolute path`},
		"missing source":      {[]string{image, `files = { "/a" = { source = "/nonexistent/x" } }`}, `Source file can't be read`},
		"keep what":           {[]string{image, `on_create_failure = "leave"`}, `must be one of`},
		"negative timeout":    {[]string{image, "timeouts {\n update = \"-5m\"\n}"}, `more than 0`},
	} {
		t.Run(title, func(t *testing.T) {
			server := acctest.NewOpenSandbox(t)
			acctest.Run(t, resource.TestCase{
				Steps: []resource.TestStep{{Config: box(server, c.lines...), ExpectError: said(c.says)}},
			})
			if sent := len(server.Faults().Requests()); sent != 0 {
				t.Errorf("%d requests were sent", sent)
			}
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
