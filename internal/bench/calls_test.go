package main

import (
	"cmp"
	"context"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/gpuvm"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
	"github.com/agentenv/terraform-provider-gpuvm/internal/program"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
	"github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// BenchmarkCalls shows what each call of a plan without changes, and the plan of a new object, costs the provider, without Terraform and without the wire;
// with -cpuprofile it shows what of it is whose.
func BenchmarkCalls(b *testing.B) {
	vms := httptest.NewServer(gpuvm.New(gpuvm.Options{Token: token}))
	defer vms.Close()
	sandboxes := httptest.NewServer(opensandbox.New(opensandbox.Options{APIKey: apiKey}))
	defer sandboxes.Close()
	for _, c := range []struct {
		resource         string
		server           program.Server
		settings, config map[string]any
	}{
		{
			"gpuvm_instance", program.NewServer(provider.GPUVM("bench")()),
			map[string]any{"base_url": vms.URL, "api_token": token},
			map[string]any{"image": "client", "labels": map[string]any{"number": "1"}},
		},
		{
			"opensandbox_sandbox", program.NewServer(provider.OpenSandbox("bench")()),
			map[string]any{
				"domain": sandboxes.URL, "api_key": apiKey,
				"create": map[string]any{"skip_health_check": true}, "probe": map[string]any{"command": ""},
			},
			map[string]any{"image": "python:3.11", "ttl_seconds": 3600, "exposed_ports": []any{8000}, "metadata": map[string]any{"number": "1"}},
		},
	} {
		calls := &recorder{Server: c.server}
		record(b, calls, c.resource, c.settings, c.config)
		for _, call := range []struct {
			name string
			make func(context.Context) error
		}{
			{"validate", func(ctx context.Context) error {
				_, err := c.server.ValidateResourceConfig(ctx, calls.validate)
				return err
			}},
			{"upgrade", func(ctx context.Context) error {
				_, err := c.server.UpgradeResourceState(ctx, calls.upgrade)
				return err
			}},
			{"read", func(ctx context.Context) error { _, err := c.server.ReadResource(ctx, calls.read); return err }},
			{"plan", func(ctx context.Context) error { _, err := c.server.PlanResourceChange(ctx, calls.plan); return err }},
			{"plan-new", func(ctx context.Context) error { _, err := c.server.PlanResourceChange(ctx, calls.planNew); return err }},
		} {
			b.Run(c.resource+"/"+call.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := call.make(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// record makes an object and plans it once more, so that each call was made once.
func record(b *testing.B, calls *recorder, resource string, settings, config map[string]any) {
	b.Helper()
	ctx := b.Context()
	schemas, err := terraformcore.SchemasOf(ctx, calls)
	if err != nil {
		b.Fatal(err)
	}
	core := terraformcore.Start(calls, schemas)
	if report := core.Configure(ctx, settings); report.Failed() {
		b.Fatal(report)
	}
	made := core.Up(ctx, resource, nil, config, config)
	if made.Failed() {
		b.Fatal(made)
	}
	if report := core.Preview(ctx, resource, made.Object, config); report.Failed() {
		b.Fatal(report)
	}
}

// recorder keeps the last request of each call.
type recorder struct {
	program.Server
	validate *tfprotov6.ValidateResourceConfigRequest
	upgrade  *tfprotov6.UpgradeResourceStateRequest
	read     *tfprotov6.ReadResourceRequest
	plan     *tfprotov6.PlanResourceChangeRequest
	planNew  *tfprotov6.PlanResourceChangeRequest // the first
}

func (r *recorder) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	r.validate = req
	return r.Server.ValidateResourceConfig(ctx, req)
}

func (r *recorder) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	r.upgrade = req
	return r.Server.UpgradeResourceState(ctx, req)
}

func (r *recorder) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	r.read = req
	return r.Server.ReadResource(ctx, req)
}

func (r *recorder) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	r.plan = req
	r.planNew = cmp.Or(r.planNew, req)
	return r.Server.PlanResourceChange(ctx, req)
}
