package opensandboxsandbox_test

import (
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// secrets is a sandbox with a secret in every write-only value.
var secrets = values{
	"image": "busybox", "image_auth": values{"username": "ada", "password_wo": "canary-password"},
	"env_wo": values{"TOKEN": "canary-variable"}, "env_wo_version": 1,
	"files": values{"/etc/secret": values{"content_wo": "canary-file"}}, "files_wo_version": 1,
	"volume": []any{values{"name": "b", "mount_path": "/b", "ossfs": values{
		"bucket": "abc", "endpoint": "e", "access_key_id": "i", "access_key_secret_wo": "canary-bucket",
	}}},
}

func TestWriteOnlyValuesReachTheServerAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	change := b.plan(acctest.Object{}, secrets)
	for attribute, value := range change.Attributes {
		if strings.Contains(value.String(), "canary") {
			t.Errorf("the plan shows it in %s", attribute)
		}
	}
	made, diagnostics := b.Apply(t.Context(), change)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	if strings.Contains(string(made.State.MsgPack)+string(made.State.JSON)+string(made.Private), "canary") {
		t.Error("the state shows it")
	}
	request := only(t, b.server).Request
	same(t, "password", request.Image.Password.Is("canary-password"), true)
	same(t, "variable", request.Env["TOKEN"], "canary-variable")
	same(t, "bucket", request.Volumes[0].OSSFS.AccessKeySecret.Is("canary-bucket"), true)
	file, err := b.server.Machine(text(t, made.Attributes, "id")).ReadFile("/etc/secret")
	same(t, "file", string(file.Data), "canary-file")
	same(t, "leaks of the API key into a sandbox", len(b.server.KeyLeaks()), 0)
	if err != nil {
		t.Error(err)
	}
}

// Servers repeat what they refuse.
func TestErrorsShowNoSecret(t *testing.T) {
	t.Parallel()
	for title, fault := range map[string]faults.Fault{
		"input of a 422": {Method: "POST", Path: posts, Status: 422, Body: `{"detail":[{"loc":["body","env"],"msg":"bad","input":{"TOKEN":"canary-variable"}}]}`},
		"message":        {Method: "POST", Path: posts, Status: 400, Body: `{"code":"X","message":"ada with canary-password, key-of-the-test and canary-bucket is refused"}`},
		"upload":         {Method: "POST", Path: "/direct/*/*/proxy/*/files/upload", Status: 400, Body: `{"code":"X","message":"can't write canary-file"}`},
		"probe":          {Method: "POST", Path: "/direct/*/*/proxy/*/command", Status: 400, Body: `{"code":"X","message":"TOKEN=canary-variable"}`},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, values{"operations": values{"retries": 0}})
			fault.Times = -1
			b.server.Faults().Order(fault)
			_, said := b.refused(acctest.Object{}, secrets)
			if strings.Contains(said, "canary") || strings.Contains(said, "key-of-the-test") {
				t.Errorf("it says %s", said)
			}
		})
	}
}
