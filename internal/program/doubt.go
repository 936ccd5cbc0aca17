package program

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/private"
	"github.com/agentenv/terraform-provider-gpuvm/internal/unchanged"
)

// NewDoubtingServer is NewServer for tests: wherever it answers for an unchanged object by itself it asks the framework too, and
// fails unless that answers the same.
func NewDoubtingServer(p provider.Provider) Server {
	if _, ok := p.(unchanged.Provider); !ok {
		panic("the provider answers for no unchanged object: there is nothing to doubt")
	}
	return &doubting{newServer(p)}
}

type doubting struct{ *server }

func (d *doubting) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	own := d.upgraded(req)
	answer, err := released(ctx, req, d.Server.UpgradeResourceState)
	if own == nil || err != nil {
		return answer, err
	}
	return own, differ(d.shortcutOf(req.TypeName), "upgrade",
		outcome{state: own.UpgradedState}, outcome{state: answer.UpgradedState, diagnostics: answer.Diagnostics})
}

func (d *doubting) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, own := d.refreshed(ctx, req)
	answer, err := released(ctx, req, d.Server.ReadResource)
	if own == nil || err != nil {
		return answer, err
	}
	if err := differ(d.shortcutOf(req.TypeName), "refresh",
		outcome{own.NewState, own.Private, nil}, outcome{answer.NewState, answer.Private, answer.Diagnostics}); err != nil {
		return nil, err
	}
	if !bytes.Equal(own.NewIdentity.IdentityData.MsgPack, answer.NewIdentity.IdentityData.MsgPack) {
		return nil, fmt.Errorf("refresh of %s: the framework gives another identity", req.TypeName)
	}
	return own, nil
}

func (d *doubting) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	own := d.planned(ctx, req)
	answer, err := released(ctx, req, d.Server.PlanResourceChange)
	if own == nil || err != nil {
		return answer, err
	}
	if len(answer.RequiresReplace) > 0 || answer.Deferred != nil {
		return nil, fmt.Errorf("plan of %s: the framework replaces or defers", req.TypeName)
	}
	return own, differ(d.shortcutOf(req.TypeName), "plan",
		outcome{own.PlannedState, own.PlannedPrivate, nil}, outcome{answer.PlannedState, answer.PlannedPrivate, answer.Diagnostics})
}

// outcome is what a call came to.
type outcome struct {
	state       *tfprotov6.DynamicValue
	notes       []byte
	diagnostics []*tfprotov6.Diagnostic
}

// differ is an error where the framework comes to something else.
func differ(sc *shortcut, call string, own, framework outcome) error {
	if len(framework.diagnostics) > 0 {
		return fmt.Errorf("%s: the framework says %s: %s", call, framework.diagnostics[0].Summary, framework.diagnostics[0].Detail)
	}
	mine, err := own.state.Unmarshal(sc.wireType)
	if err != nil {
		return err
	}
	theirs, err := framework.state.Unmarshal(sc.wireType)
	if err != nil {
		return err
	}
	if !mine.Equal(theirs) {
		return fmt.Errorf("%s: the framework comes to %s, not to %s", call, theirs, mine)
	}
	notes, err := private.Parse(own.notes)
	if err != nil {
		return err
	}
	others, err := private.Parse(framework.notes)
	if err != nil {
		return err
	}
	if !maps.EqualFunc(notes, others, bytes.Equal) {
		return fmt.Errorf("%s: the framework comes to other notes", call)
	}
	return nil
}
