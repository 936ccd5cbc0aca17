package examples

import (
	"fmt"
	"testing"
)

// example says how a folder of examples/ is tested. The zero value is: applied, planned again without a change, destroyed, and
// then the services hold nothing. What else a folder holds is tested besides: tests/ by `terraform test`, import.sh and
// import-by-*.tf by importing what the example made, actions and lists by running them.
type example struct {
	variables map[string]string // as TF_VAR_*
	before    string            // an example that is applied first and destroyed last; its outputs are this one's variables
	prepare   func(t *testing.T, s *stage) map[string]string
	always    string // why a plan after the apply isn't empty
	first     string // an action that is invoked before the example's own
	// kubernetes: what it shows needs an OpenSandbox server on Kubernetes. pool is one that stands there already.
	kubernetes bool
	pool       string
}

// table names every folder of examples/ that holds configuration. A folder that isn't in it fails the tests.
var table = map[string]example{
	"demo":           {},
	"demo/reconnect": {before: "demo"},

	"gpuvm/provider":                    {},
	"gpuvm/resources/gpuvm_instance":    {variables: map[string]string{"license_key": "a license of the test"}},
	"gpuvm/resources/gpuvm_file":        {variables: map[string]string{"api_key": "a key of the test"}},
	"gpuvm/resources/gpuvm_exec":        {},
	"gpuvm/data-sources/gpuvm_instance": {prepare: makeInstance},
	"gpuvm/actions/gpuvm_exec":          {},
	"gpuvm/guides/display":              {},
	"gpuvm/guides/reconnect/maker":      {},
	"gpuvm/guides/reconnect/user":       {before: "gpuvm/guides/reconnect/maker"},
	"gpuvm/guides/testing":              {},

	"opensandbox/provider":                                 {},
	"opensandbox/resources/opensandbox_sandbox":            {},
	"opensandbox/resources/opensandbox_file":               {variables: map[string]string{"api_key": "a key of the test"}},
	"opensandbox/resources/opensandbox_exec":               {variables: map[string]string{"api_key": "a key of the test"}},
	"opensandbox/resources/opensandbox_snapshot":           {},
	"opensandbox/resources/opensandbox_pool":               {kubernetes: true},
	"opensandbox/data-sources/opensandbox_endpoint":        {},
	"opensandbox/data-sources/opensandbox_pool":            {kubernetes: true, pool: "python"},
	"opensandbox/data-sources/opensandbox_sandbox":         {prepare: makeSandbox},
	"opensandbox/data-sources/opensandbox_sandboxes":       {prepare: makeSandbox},
	"opensandbox/data-sources/opensandbox_snapshot":        {before: "opensandbox/resources/opensandbox_snapshot"},
	"opensandbox/data-sources/opensandbox_snapshots":       {before: "opensandbox/resources/opensandbox_snapshot"},
	"opensandbox/ephemeral-resources/opensandbox_endpoint": {},
	"opensandbox/ephemeral-resources/opensandbox_sandbox":  {},
	"opensandbox/list-resources/opensandbox_sandbox":       {},
	"opensandbox/list-resources/opensandbox_snapshot":      {},
	"opensandbox/actions/opensandbox_exec":                 {variables: map[string]string{"api_key": "a key of the test"}},
	"opensandbox/actions/opensandbox_pause":                {},
	"opensandbox/actions/opensandbox_resume":               {first: "opensandbox_pause"},
	"opensandbox/actions/opensandbox_renew":                {},
	"opensandbox/guides/ci":                                {always: "the evaluation runs in every apply"},
	"opensandbox/sandboxes/desktop":                        {},
	"opensandbox/sandboxes/from-snapshot":                  {},
	"opensandbox/sandboxes/locked-down":                    {},
	"opensandbox/sandboxes/private-registry": {
		variables: map[string]string{"registry_username": "robot", "registry_password": "a password of the test"},
	},
}

// makeInstance makes a machine that no state knows, as another team's configuration would have.
func makeInstance(t *testing.T, s *stage) map[string]string {
	t.Helper()
	id := s.vms.Make(t, `{"image":"openciv3-client","cpu":1,"memory_mb":8192,"disk_gb":10,"ttl_seconds":7200,"ports":[18765],"labels":{},"priority":null}`)
	s.cleanUps = append(s.cleanUps, func() error {
		if !s.vms.Delete(id) {
			return fmt.Errorf("the machine %s, which the example only reads, is gone", id)
		}
		return nil
	})
	return map[string]string{"instance_id": id}
}

// makeSandbox is the same for a sandbox.
func makeSandbox(t *testing.T, s *stage) map[string]string {
	t.Helper()
	id := s.sandboxes.Make(t, `{"image":{"uri":"python:3.11"},"entrypoint":["tail","-f","/dev/null"],"resourceLimits":{"cpu":"1"},"metadata":{"project":"evaluation"}}`)
	s.cleanUps = append(s.cleanUps, func() error {
		if !s.sandboxes.Kill(id) {
			return fmt.Errorf("the sandbox %s, which the example only reads, is gone", id)
		}
		return nil
	})
	return map[string]string{"sandbox_id": id}
}
