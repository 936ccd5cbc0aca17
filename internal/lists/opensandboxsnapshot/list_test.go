package opensandboxsnapshot_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	"github.com/agentenv/terraform-provider-gpuvm/internal/provider"
)

type values = acctest.Values

const kind = "opensandbox_snapshot"

func TestSnapshotsAreListed(t *testing.T) {
	t.Parallel()
	server := acctest.NewOpenSandbox(t)
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), values{"domain": server.URL, "api_key": server.APIKey})
	source := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail"],"resourceLimits":{"cpu":"1"}}`)
	for _, name := range []any{"daily", nil} {
		_, diagnostics := protocol.Apply(t.Context(), protocol.PlanChange(t.Context(), kind, acctest.Object{}, values{"sandbox_id": source, "name": name}))
		if len(diagnostics) > 0 {
			t.Fatal(acctest.Text(diagnostics))
		}
	}
	named, unnamed := server.Snapshots()[0].ID, server.Snapshots()[1].ID
	for title, c := range map[string]struct {
		query acctest.Query
		want  []string
	}{
		"all":              {acctest.Query{Limit: 100}, []string{unnamed, named}},
		"limit":            {acctest.Query{Limit: 1}, []string{unnamed}},
		"of a sandbox":     {acctest.Query{Limit: 100, Config: values{"sandbox_id": source, "states": []string{"ready"}}}, []string{unnamed, named}},
		"of another":       {acctest.Query{Limit: 100, Config: values{"sandbox_id": "sb-other"}}, nil},
		"in another state": {acctest.Query{Limit: 100, Config: values{"states": []string{"Failed", "Creating"}}}, nil},
	} {
		found, diagnostics := protocol.List(t.Context(), kind, c.query)
		if len(diagnostics) > 0 || len(found) != len(c.want) {
			t.Errorf("%s: found %v\n%s", title, found, acctest.Text(diagnostics))
			continue
		}
		for i, id := range c.want {
			if found[i].ID != id || found[i].Attributes != nil {
				t.Errorf("%s: %d is %+v, want %s", title, i, found[i], id)
			}
		}
	}
}

// What is listed with the whole resource is a snapshot as an import has it, and a configuration of just that keeps it.
func TestListedSnapshotMakesValidConfiguration(t *testing.T) {
	t.Parallel()
	server := acctest.NewOpenSandbox(t)
	protocol := acctest.NewProtocol(t, provider.OpenSandbox("test")(), values{"domain": server.URL, "api_key": server.APIKey})
	source := server.Make(t, `{"image":{"uri":"busybox"},"entrypoint":["tail"],"resourceLimits":{"cpu":"1"}}`)
	_, diagnostics := protocol.Apply(t.Context(), protocol.PlanChange(t.Context(), kind, acctest.Object{}, values{"sandbox_id": source, "name": "daily"}))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	found, diagnostics := protocol.List(t.Context(), kind, acctest.Query{Limit: 1, IncludeResource: true})
	if len(found) != 1 || len(diagnostics) > 0 || found[0].DisplayName != "daily (Ready)" {
		t.Fatalf("found %v\n%s", found, acctest.Text(diagnostics))
	}
	imported, diagnostics := protocol.Import(t.Context(), kind, found[0].ID)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics))
	}
	for name, value := range found[0].Attributes {
		if !value.Equal(imported.Attributes[name]) {
			t.Errorf("%s is listed as %s and imported as %s", name, value, imported.Attributes[name])
		}
	}
	change := protocol.PlanChange(t.Context(), kind, imported, values{"sandbox_id": found[0].Attributes["sandbox_id"], "name": tftypes.NewValue(tftypes.String, "daily")})
	if len(change.Diagnostics) > 0 || len(change.Replace) > 0 {
		t.Errorf("replaced for %v\n%s", change.Replace, acctest.Text(change.Diagnostics))
	}
}
