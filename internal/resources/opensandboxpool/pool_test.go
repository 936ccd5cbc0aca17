package opensandboxpool_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentenv/terraform-provider-gpuvm/internal/acctest"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

const (
	name     = "opensandbox_pool.warm"
	template = `template = jsonencode({ spec = { containers = [{ name = "sandbox", image = "busybox" }] } })`
	// reworded is the same template in other words.
	reworded = `template = " { \"spec\": {\"containers\":[ {\"image\":\"busybox\",\"name\":\"sandbox\"} ] } } "`
	other    = `template = jsonencode({ spec = { containers = [{ name = "sandbox", image = "debian" }] } })`
	small    = `capacity = { buffer_min = 1, buffer_max = 2, pool_min = 1, pool_max = 5 }`
	large    = `capacity = { buffer_min = 1, buffer_max = 2, pool_min = 1, pool_max = 50 }`
)

func kubernetes(t *testing.T) *acctest.OpenSandbox {
	t.Helper()
	return acctest.NewOpenSandbox(t, func(o *fake.Options) { o.Kubernetes = true })
}

// pool is the configuration of a pool with the given lines in its block.
func pool(server *acctest.OpenSandbox, lines ...string) string {
	text := server.Provider() + "resource \"opensandbox_pool\" \"warm\" {\n"
	for _, line := range lines {
		text += "  " + line + "\n"
	}
	return text + "}\n"
}

func named(text string) string { return fmt.Sprintf("name = %q", text) }

func action(want plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, want)}}
}

func noChange() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
}

// holds is a check of the one pool that the server has.
func holds(server *acctest.OpenSandbox, want fake.Pool) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if all := server.Pools(); len(all) != 1 || all[0] != want {
			return fmt.Errorf("the server has %+v, want %+v", all, want)
		}
		return nil
	}
}

func TestAccPool(t *testing.T) {
	server := kubernetes(t)
	wants := fake.Pool{
		Name: "warm", Template: `{"spec":{"containers":[{"image":"busybox","name":"sandbox"}]}}`,
		Capacity: fake.Capacity{BufferMin: 1, BufferMax: 2, PoolMin: 1, PoolMax: 5},
	}
	grown, colder, replaced := wants, wants, wants
	grown.Capacity.PoolMax = 50
	replaced.Template = `{"spec":{"containers":[{"image":"debian","name":"sandbox"}]}}`
	colder.Name = "colder"
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.EmptyOfAll,
		Steps: []resource.TestStep{
			{
				Config: pool(server, named("warm"), template, small), Check: holds(server, wants),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectKnownValue(name, tfjsonpath.New("id"), knownvalue.StringExact("warm")),
				}},
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(name, tfjsonpath.New("created_at"), knownvalue.NotNull())},
			},
			{Config: pool(server, named("warm"), template, small), ConfigPlanChecks: noChange()},
			{Config: pool(server, named("warm"), reworded, small), ConfigPlanChecks: noChange()},
			{
				Config:           pool(server, named("warm"), reworded, large),
				ConfigPlanChecks: action(plancheck.ResourceActionUpdate), Check: holds(server, grown),
			},
			{
				Config:           pool(server, named("warm"), other, small),
				ConfigPlanChecks: action(plancheck.ResourceActionDestroyBeforeCreate), Check: holds(server, replaced),
			},
			{
				Config:           pool(server, named("colder"), template, small),
				ConfigPlanChecks: action(plancheck.ResourceActionDestroyBeforeCreate), Check: holds(server, colder),
			},
		},
	})
}

func TestAccPoolChangedOutside(t *testing.T) {
	server := kubernetes(t)
	config := pool(server, named("warm"), template, small)
	wants := fake.Pool{Name: "warm", Template: "{}", Capacity: fake.Capacity{BufferMin: 1, BufferMax: 2, PoolMin: 1, PoolMax: 5}}
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.EmptyOfAll,
		Steps: []resource.TestStep{
			{Config: config},
			{
				// Its capacity is put back. Of its template nothing can be seen.
				PreConfig: func() { server.AddPool("warm", fake.Capacity{PoolMax: 9}, true) },
				Config:    config, ConfigPlanChecks: action(plancheck.ResourceActionUpdate), Check: holds(server, wants),
			},
		},
	})
}

func TestAccPoolNameIsTaken(t *testing.T) {
	server := kubernetes(t)
	server.AddPool("warm", fake.Capacity{PoolMax: 9}, true)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{{
			Config: pool(server, named("warm"), template, small), ExpectError: acctest.Said("a pool with the name warm exists already: import it"),
		}},
	})
	if all := server.Pools(); len(all) != 1 || all[0].Capacity.PoolMax != 9 {
		t.Errorf("the pool of somebody else is %v now", all)
	}
}

func TestAccPoolNeedsKubernetes(t *testing.T) {
	server := acctest.NewOpenSandbox(t)
	acctest.Run(t, resource.TestCase{
		Steps: []resource.TestStep{{
			Config: pool(server, named("warm"), template, small), ExpectError: acctest.Said("only available when runtime.type is 'kubernetes'"),
		}},
	})
}

func TestAccBadPoolIsRefused(t *testing.T) {
	capacity := func(bufferMin, bufferMax, poolMin, poolMax string) string {
		return fmt.Sprintf("capacity = { buffer_min = %s, buffer_max = %s, pool_min = %s, pool_max = %s }", bufferMin, bufferMax, poolMin, poolMax)
	}
	for title, c := range map[string]struct {
		lines []string
		says  string
	}{
		"upper case":      {[]string{named("Warm"), template, small}, "must be lowercase letters, digits and dashes"},
		"dash at the end": {[]string{named("warm-"), template, small}, "must be lowercase letters, digits and dashes"},
		"dot":             {[]string{named("a.b"), template, small}, "must be lowercase letters, digits and dashes"},
		"too long":        {[]string{named("a123456789012345678901234567890123456789012345678901234567890123"), template, small}, "between 1 and 63"},
		"empty name":      {[]string{named(""), template, small}, "between 1 and 63"},
		"no JSON":         {[]string{named("warm"), `template = "{"`, small}, "Invalid JSON String Value"},
		"a list":          {[]string{named("warm"), `template = "[]"`, small}, "Template isn't a JSON object"},
		"JSON's null":     {[]string{named("warm"), `template = "null"`, small}, "Template isn't a JSON object"},
		"buffer":          {[]string{named("warm"), template, capacity("3", "2", "1", "5")}, "buffer_min is more than buffer_max"},
		"pool":            {[]string{named("warm"), template, capacity("1", "2", "6", "5")}, "pool_min is more than pool_max"},
		"negative":        {[]string{named("warm"), template, capacity("-1", "2", "1", "5")}, "must be at least 0"},
		"fraction":        {[]string{named("warm"), template, capacity("0.5", "2", "1", "5")}, "0.5 is not a whole number"},
		"key is missing":  {[]string{named("warm"), template, `capacity = { buffer_min = 1, buffer_max = 2, pool_min = 1 }`}, `attribute "pool_max" is required`},
	} {
		t.Run(title, func(t *testing.T) {
			server := kubernetes(t)
			acctest.Run(t, resource.TestCase{Steps: []resource.TestStep{{Config: pool(server, c.lines...), ExpectError: acctest.Said(c.says)}}})
			if sent := len(server.Faults().Requests()); sent != 0 {
				t.Errorf("%d requests were sent", sent)
			}
		})
	}
}

// Bounds that become known only at apply are checked then.
func TestAccPoolWithUnknownBounds(t *testing.T) {
	server := kubernetes(t)
	config := pool(server, named("warm"), template, "capacity = { buffer_min = terraform_data.low.output, buffer_max = 2, pool_min = 1, pool_max = 5 }") + `
resource "terraform_data" "low" {
  input = %d
}
`
	acctest.Run(t, resource.TestCase{
		CheckDestroy: server.EmptyOfAll,
		Steps: []resource.TestStep{
			{Config: fmt.Sprintf(config, 3), ExpectError: acctest.Said("buffer_min is more than buffer_max")},
			{Config: fmt.Sprintf(config, 1)},
		},
	})
}
