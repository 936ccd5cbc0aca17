package matrix_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// TestMatrixOfProviders tries each setting of both provider blocks with each kind of nothing: what isn't known yet is accepted
// until a call needs it, and what is wrong is an error that can be read.
func TestMatrixOfProviders(t *testing.T) {
	for _, of := range []*subject.Type{subject.GPUVMInstance, subject.OpenSandboxSandbox} {
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			schemas, err := of.Served(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			settings := table{map[string]any{}, of.Settings, nil}
			for _, p := range settings.places(schemas.Provider.Block) {
				for _, c := range cells(p) {
					synctest.Test(t, func(t *testing.T) {
						world := of.Begin(schemas, nil)
						defer world.End()
						ctx := world.Context(t.Context())
						r := &trial{t: t, what: fmt.Sprintf("%s of the setting %s", c.name, p)}
						provider, configured := world.Provider(ctx, settings.config(p, c.plan))
						r.judge(core.Outcome{Report: configured})
						if configured.Failed() {
							return
						}
						// A plan needs no request, so it goes on without what isn't known.
						planned := provider.Preview(ctx, of.Name, nil, of.Smallest)
						if r.judge(planned); planned.Failed() {
							t.Errorf("%s: a plan fails: %s", r.what, planned)
						}
						// Terraform knows all settings before it applies; should one be unknown all the same, nothing is sent.
						applied := provider.Up(ctx, of.Name, nil, of.Smallest, of.Smallest)
						r.judge(applied)
						if requests := len(world.Service.Faults().Requests()); c.plan == core.Unknown && applied.Failed() && requests > 0 {
							t.Errorf("%s: %d requests were sent", r.what, requests)
						}
					})
				}
			}
		})
	}
}
