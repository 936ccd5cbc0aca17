package program

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// applies records what it is asked to apply, and makes what is planned.
type applies struct {
	Server
	asked []*tfprotov6.ApplyResourceChangeRequest
}

func (a *applies) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	a.asked = append(a.asked, req)
	return &tfprotov6.ApplyResourceChangeResponse{NewState: req.PlannedState, Private: []byte("note")}, ctx.Err()
}

func TestWhatNoTerraformHearsOfIsDestroyed(t *testing.T) {
	t.Parallel()
	value := func(text any) *tfprotov6.DynamicValue {
		encoded, err := tfprotov6.NewDynamicValue(tftypes.String, tftypes.NewValue(tftypes.String, text))
		if err != nil {
			t.Fatal(err)
		}
		return &encoded
	}
	for title, c := range map[string]struct {
		prior, planned any
		orphaned       bool
		undone         bool
	}{
		"create":                 {nil, "machine", false, false},
		"create, Terraform gone": {nil, "machine", true, true},
		"update, Terraform gone": {"machine", "changed", true, false},
		"delete, Terraform gone": {"machine", nil, true, false},
	} {
		server := &applies{}
		w := watch(server, func() bool { return c.orphaned })
		if _, err := w.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{TypeName: "thing", PriorState: value(c.prior), PlannedState: value(c.planned)}); err != nil {
			t.Fatal(err)
		}
		if undone := len(server.asked) == 2; undone != c.undone {
			t.Errorf("%s: asked %d times", title, len(server.asked))
			continue
		}
		if !c.undone {
			continue
		}
		last := server.asked[1]
		if !isNull(last.PlannedState) || isNull(last.PriorState) || last.TypeName != "thing" || string(last.PlannedPrivate) != "note" {
			t.Errorf("%s: the second request is %+v", title, last)
		}
	}
}
