package program

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
)

// applies records what it is asked to apply, and makes what is planned. Its first destroy fails.
type applies struct {
	Server
	asked []*tfprotov6.ApplyResourceChangeRequest
}

func (a *applies) ApplyResourceChange(_ context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	a.asked = append(a.asked, req)
	resp := &tfprotov6.ApplyResourceChangeResponse{NewState: req.PlannedState, NewIdentity: req.PlannedIdentity, Private: req.PlannedPrivate}
	if isNull(req.PlannedState) && len(a.asked) == 2 {
		resp.Diagnostics = []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError}}
	}
	return resp, nil
}

func TestWhatNoTerraformHearsOfIsDestroyed(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		prior, planned  any
		orphaned, ended bool // Terraform, the call
		nameless        bool
		undone          bool
	}{
		"create":                       {planned: "machine"},
		"create, Terraform gone":       {planned: "machine", orphaned: true, ended: true, undone: true},
		"create, interrupted":          {planned: "machine", ended: true},
		"create, another parent":       {planned: "machine", orphaned: true},
		"file, Terraform gone":         {planned: "file", orphaned: true, ended: true, nameless: true},
		"failed create, all is gone":   {orphaned: true, ended: true},
		"update, Terraform gone":       {prior: "machine", planned: "changed", orphaned: true, ended: true},
		"destruction, Terraform gone ": {prior: "machine", orphaned: true, ended: true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.ended {
					cancel()
				}
				server := &applies{}
				w := watch(server, func() bool { return c.orphaned })
				req := &tfprotov6.ApplyResourceChangeRequest{
					TypeName: "thing", PriorState: encoded(t, c.prior), PlannedState: encoded(t, c.planned),
					PlannedPrivate: []byte(`{"labels":"e30="}`), PlannedIdentity: &tfprotov6.ResourceIdentityData{},
				}
				if c.nameless {
					req.PlannedIdentity = nil
				}
				if _, err := w.ApplyResourceChange(ctx, req); err != nil {
					t.Fatal(err)
				}
				if undone := len(server.asked) == 3; undone != c.undone || !undone && len(server.asked) != 1 {
					t.Fatalf("asked %d times", len(server.asked))
				}
				if !c.undone {
					return
				}
				last := server.asked[2]
				notes, err := private.Parse(last.PlannedPrivate)
				if err != nil || len(notes[private.Unfinished]) == 0 || len(notes[private.Labels]) == 0 {
					t.Errorf("the notes are %q, %v", notes, err)
				}
				if !isNull(last.PlannedState) || isNull(last.PriorState) || last.TypeName != "thing" || last.PlannedIdentity != req.PlannedIdentity {
					t.Errorf("the last request is %+v", last)
				}
			})
		})
	}
}

func encoded(t *testing.T, text any) *tfprotov6.DynamicValue {
	t.Helper()
	value, err := tfprotov6.NewDynamicValue(tftypes.String, tftypes.NewValue(tftypes.String, text))
	if err != nil {
		t.Fatal(err)
	}
	return &value
}
