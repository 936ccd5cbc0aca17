package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// kinds are what is measured, in turn; the first is the floor.
var kinds = []struct{ name, resource string }{
	{"terraform_data", `
resource "terraform_data" "x" {
  count = %d
  input = {
    image = "client", cpu = 1, memory_mb = 8192, disk_gb = 10, ttl_seconds = 7200, labels = { number = "${count.index}" }, id = "vm-12345678"
    status = "running", vnc_url = "http://127.0.0.1:40000/vms/vm-12345678/display", created_at = "2026-01-01T00:00:00Z", expires_at = "2026-01-01T02:00:00Z"
  }
}
`},
	{"gpuvm_instance", `
terraform {
  required_providers {
    gpuvm = { source = "registry.terraform.io/agentenv/gpuvm" }
  }
}
provider "gpuvm" {}
resource "gpuvm_instance" "x" {
  count  = %d
  image  = "client"
  labels = { number = "${count.index}" }
}
`},
	{"opensandbox_sandbox", `
terraform {
  required_providers {
    opensandbox = { source = "registry.terraform.io/agentenv/opensandbox" }
  }
}
provider "opensandbox" {
  create {
    skip_health_check = true
  }
  probe {
    command = ""
  }
}
resource "opensandbox_sandbox" "x" {
  count         = %d
  image         = "python:3.11"
  ttl_seconds   = 3600
  exposed_ports = [8000]
  metadata      = { number = "${count.index}" }
}
`},
}

var steps = []string{"apply", "plan", "destroy"}

func arguments(step string, parallelism int) []string {
	at := fmt.Sprintf("-parallelism=%d", parallelism)
	switch step {
	case "plan":
		return []string{"plan", "-input=false", "-detailed-exitcode", at}
	default:
		return []string{step, "-input=false", "-auto-approve", at}
	}
}

// scale measures apply, a plan without changes, and destroy, kind by kind and round by round.
func (b bench) scale(ctx context.Context, sizes, parallelisms []int) error {
	for _, n := range sizes {
		for _, parallelism := range parallelisms {
			results, err := b.rounded(ctx, options{}, n, parallelism)
			if err != nil {
				return err
			}
			write(results, n, parallelism, "")
		}
	}
	return nil
}

// latency is the same at a distance, for one size.
func (b bench) latency(ctx context.Context) error {
	for _, latency := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond} {
		results, err := b.rounded(ctx, options{latency: latency}, 200, 10)
		if err != nil {
			return err
		}
		write(results, 200, 10, ", each request takes "+latency.String())
	}
	return nil
}

// rounded gives the measurements of each kind and step, round by round: A B C A B C, so that a machine's drift hits all.
func (b bench) rounded(ctx context.Context, o options, n, parallelism int) (map[string][]measured, error) {
	results := map[string][]measured{}
	for range b.rounds {
		for _, kind := range kinds {
			s, err := b.stage(ctx, o, fmt.Sprintf(kind.resource, n))
			if err != nil {
				return nil, err
			}
			for _, step := range steps {
				m, err := s.command(ctx, arguments(step, parallelism)...)
				if err != nil {
					s.end()
					return nil, fmt.Errorf("%s of %d %s: %w", step, n, kind.name, err)
				}
				results[kind.name+" "+step] = append(results[kind.name+" "+step], m)
			}
			s.end()
		}
	}
	return results, nil
}

func write(results map[string][]measured, n, parallelism int, more string) {
	fmt.Printf("\n%d resources, parallelism %d%s\n", n, parallelism, more)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "kind\tstep\tseconds\tratio\trequests each\tconnections (at once)\tprovider MB")
	for _, kind := range kinds {
		for _, step := range steps {
			all := results[kind.name+" "+step]
			floor := median(results[kinds[0].name+" "+step], func(m measured) float64 { return m.wall.Seconds() })
			wall := median(all, func(m measured) float64 { return m.wall.Seconds() })
			_, _ = fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%.2f\t%.0f (%.0f)\t%.0f\n", kind.name, step, wall, wall/floor,
				median(all, func(m measured) float64 { return float64(m.requests) / float64(n) }),
				median(all, func(m measured) float64 { return float64(m.opened) }),
				median(all, func(m measured) float64 { return float64(m.atOnce) }),
				median(all, func(m measured) float64 { return float64(m.memory) / 1e6 }))
		}
	}
	_ = w.Flush()
}

func median(all []measured, of func(measured) float64) float64 {
	var values []float64
	for _, m := range all {
		values = append(values, of(m))
	}
	return middle(values)
}

func middle(values []float64) float64 {
	slices.Sort(values)
	if len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}

func lines(text string) iter.Seq[string] { return strings.SplitSeq(text, "\n") }
