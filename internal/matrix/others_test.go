package matrix_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/figures"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// other is a served type that is no resource.
type other struct {
	kind, name string
	of         *subject.Type // whose service has what it is about
	smallest   func(id string) map[string]any
	values     map[string][]any
}

const (
	data      = "data source"
	ephemeral = "ephemeral resource"
	action    = "action"
	list      = "list resource"
)

func byID(id string) map[string]any { return map[string]any{"id": id} }

func nothing(string) map[string]any { return map[string]any{} }

func inSandbox(more map[string]any) func(string) map[string]any {
	return func(id string) map[string]any {
		config := maps.Clone(more)
		config["sandbox_id"] = id
		return config
	}
}

// sandboxValues are those of the resource, but for the timeouts of what an ephemeral one doesn't have.
func sandboxValues() map[string][]any {
	values := maps.Clone(subject.OpenSandboxSandbox.Values)
	values["timeouts"] = []any{map[string]any{"open": "5m"}}
	return values
}

var others = []other{
	{data, "gpuvm_instance", subject.GPUVMInstance, byID, nil},
	{action, "gpuvm_exec", subject.GPUVMInstance, func(id string) map[string]any { return map[string]any{"instance_id": id, "argv": []any{"true"}} }, nil},
	{data, "opensandbox_sandbox", subject.OpenSandboxSandbox, byID, map[string][]any{"exposed_ports": {[]any{8080}}}},
	{data, "opensandbox_sandboxes", subject.OpenSandboxSandbox, nothing, map[string][]any{"states": {[]any{"Running"}}, "metadata": {map[string]any{"team": "red"}}}},
	{data, "opensandbox_snapshot", subject.OpenSandboxSnapshot, byID, nil},
	{data, "opensandbox_snapshots", subject.OpenSandboxSnapshot, nothing, map[string][]any{"states": {[]any{"Ready"}}}},
	{data, "opensandbox_pool", subject.OpenSandboxPool, func(id string) map[string]any { return map[string]any{"name": id} }, nil},
	{data, "opensandbox_endpoint", subject.OpenSandboxSandbox, inSandbox(map[string]any{"port": 8080}), nil},
	{ephemeral, "opensandbox_endpoint", subject.OpenSandboxSandbox, inSandbox(map[string]any{"port": 8080}), nil},
	{ephemeral, "opensandbox_sandbox", subject.OpenSandboxSandbox, func(string) map[string]any { return map[string]any{"image": "busybox"} }, sandboxValues()},
	{action, "opensandbox_exec", subject.OpenSandboxSandbox, inSandbox(map[string]any{"argv": []any{"true"}}), nil},
	{action, "opensandbox_pause", subject.OpenSandboxSandbox, inSandbox(map[string]any{}), nil},
	{action, "opensandbox_resume", subject.OpenSandboxSandbox, inSandbox(map[string]any{}), nil},
	{action, "opensandbox_renew", subject.OpenSandboxSandbox, inSandbox(map[string]any{"ttl_seconds": 600}), nil},
	{list, "opensandbox_sandbox", subject.OpenSandboxSandbox, nothing, nil},
	{list, "opensandbox_snapshot", subject.OpenSandboxSnapshot, nothing, nil},
}

// TestEveryTypeIsTried fails on the day on which a type is served that no table knows.
func TestEveryTypeIsTried(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, of := range subject.All() {
		tried["resource "+of.Name] = true
	}
	for _, o := range others {
		tried[o.kind+" "+o.name] = true
	}
	for _, of := range []*subject.Type{subject.GPUVMInstance, subject.OpenSandboxSandbox} {
		schemas, err := of.Served(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var served []string
		for kind, names := range map[string][]string{
			"resource": slices.Collect(maps.Keys(schemas.ResourceSchemas)), data: slices.Collect(maps.Keys(schemas.DataSourceSchemas)),
			ephemeral: slices.Collect(maps.Keys(schemas.EphemeralResourceSchemas)), action: slices.Collect(maps.Keys(schemas.ActionSchemas)),
			list: slices.Collect(maps.Keys(schemas.ListResourceSchemas)),
		} {
			for _, name := range names {
				served = append(served, kind+" "+name)
			}
		}
		for _, one := range served {
			if !tried[one] {
				t.Errorf("%s is served, and stands in no table: add it to internal/subject, or to others here", one)
			}
		}
	}
}

func TestMatrixOfOthers(t *testing.T) {
	count := &matrix{}
	t.Run("of", func(t *testing.T) {
		for _, o := range others {
			t.Run(o.kind+" "+o.name, func(t *testing.T) {
				t.Parallel()
				schemas, err := o.of.Served(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range (table{o.smallest("x"), o.values, nil}).places(o.block(schemas)) {
					for i, c := range cells(p) {
						told := []answers{asEver, absent, null, emptied}
						if !full {
							told = told[(i+len(p.String()))%len(told):][:1]
						}
						for _, kind := range told {
							o.try(t, count, schemas, p, c, kind)
						}
					}
				}
			})
		}
	})
	figures.Tell(t, "matrix-others", fmt.Sprintf("data sources, ephemeral resources, actions and lists: %d cells of absent, empty and unknown values: %d accepted, %d refused with a readable error",
		count.applied+count.refused, count.applied, count.refused))
}

func (o other) block(schemas *core.Schemas) *tfprotov6.SchemaBlock {
	switch o.kind {
	case data:
		return schemas.DataSourceSchemas[o.name].Block
	case ephemeral:
		return schemas.EphemeralResourceSchemas[o.name].Block
	case action:
		return schemas.ActionSchemas[o.name].Schema.Block
	default:
		return schemas.ListResourceSchemas[o.name].Block
	}
}

func (o other) try(t *testing.T, count *matrix, schemas *core.Schemas, p place, c cell, told answers) {
	synctest.Test(t, func(t *testing.T) {
		world := o.of.Begin(schemas, map[string]bool{"knows-keys": true}, told.spoil(o.of))
		defer world.End()
		ctx := world.Context(t.Context())
		provider, configured := world.Provider(ctx, nil)
		if configured.Failed() {
			t.Fatal(configured)
		}
		id, _ := world.Service.Make()
		before := len(world.Service.Standing())
		values := table{o.smallest(id), o.values, nil}
		r := &trial{t: t, what: fmt.Sprintf("%s of %s in %s %s, answers %s", c.name, p, o.kind, o.name, told)}
		report := o.use(ctx, provider, values.config(p, c.plan), values.config(p, c.applied))
		r.judge(core.Outcome{Report: report})
		if report.Failed() {
			count.count(&count.refused)
		} else {
			count.count(&count.applied)
		}
		if left := world.Service.Standing(); len(left) != before {
			t.Errorf("%s: it leaves %v", r.what, left)
		}
	})
}

// use validates under what is known at plan, then uses under what is known at apply.
func (o other) use(ctx context.Context, p *core.Provider, atPlan, atApply map[string]any) *core.Report {
	switch o.kind {
	case data:
		report := p.CheckData(ctx, o.name, atPlan)
		if report.Failed() {
			return report
		}
		_, report = p.ReadData(ctx, o.name, atApply)
		return report
	case ephemeral:
		report := p.CheckEphemeral(ctx, o.name, atPlan)
		if report.Failed() {
			return report
		}
		opened, report := p.Open(ctx, o.name, atApply)
		if opened == nil {
			return report
		}
		return p.Close(ctx, opened)
	case action:
		if report := p.CheckAction(ctx, o.name, atPlan); report.Failed() {
			return report
		}
		return p.CheckAction(ctx, o.name, atApply)
	default:
		if report := p.CheckList(ctx, o.name, atPlan); report.Failed() {
			return report
		}
		return p.CheckList(ctx, o.name, atApply)
	}
}
