package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// machines is how many boots of each length are watched.
const machines = 8

// boots shows how late the end of a boot is noticed, and how many requests that took, against a poll every 2 s.
func (b bench) boots(ctx context.Context) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nboot\tservice\tlate (median)\tlate (worst)\trequests (median)\tevery 2 s: late\trequests")
	for _, boot := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second} {
		for _, hold := range []bool{false, true} {
			late, requests, err := b.boot(ctx, boot, hold)
			if err != nil {
				return err
			}
			worst := 0.0
			for _, l := range late {
				worst = max(worst, l)
			}
			polls := math.Ceil(boot.Seconds() / 2)
			_, _ = fmt.Fprintf(w, "%s\t%s\t%.2f s\t%.2f s\t%.0f\t%.2f s\t%.0f\n", boot, map[bool]string{false: "polled", true: "Prefer: wait"}[hold],
				middle(late), worst, middle(requests), 2*polls-boot.Seconds(), polls)
			_ = w.Flush()
		}
	}
	return w.Flush()
}

// boot makes machines one after the other, as a fleet is kept: the first teaches the provider how long a boot takes.
func (b bench) boot(ctx context.Context, boot time.Duration, hold bool) (late, requests []float64, err error) {
	s, err := b.stage(ctx, options{boot: boot, hold: hold}, fmt.Sprintf(kinds[1].resource, machines))
	if err != nil {
		return nil, nil, err
	}
	defer s.end()
	var mu sync.Mutex
	asked := map[string][]time.Time{}
	remove := s.vms.Faults().OnRequest(func(r faults.Record) {
		if r.Method != http.MethodGet {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		asked[r.Path] = append(asked[r.Path], r.Time)
	})
	defer remove()
	if _, err := s.command(ctx, arguments("apply", machines/2)...); err != nil {
		return nil, nil, err
	}
	for _, vm := range s.vms.VMs() {
		times := asked["/v1/vms/"+vm.ID]
		requests = append(requests, float64(len(times)))
		// The last GET came after the boot's end, or was held until then.
		late = append(late, max(0, times[len(times)-1].Sub(vm.Created.Add(boot)).Seconds()))
	}
	_, err = s.command(ctx, arguments("destroy", machines)...)
	return late, requests, err
}
