package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// machines is how many boots of each length are watched at a time: of the first the provider knows nothing, from the others on how
// long such a boot takes.
const machines = 4

// boots shows how late the end of a boot is noticed, and how many requests that took, against a poll every 2 s.
func (b bench) boots(ctx context.Context) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nboot\tservice\tmachines\tlate, s (median)\tlate, s (worst)\trequests (median)\tevery 2 s: late, s\trequests")
	for _, boot := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second} {
		for _, hold := range []bool{false, true} {
			watched, err := b.boot(ctx, boot, hold)
			if err != nil {
				return err
			}
			polls := math.Ceil(boot.Seconds() / 2) // besides the one at once
			for i, which := range []string{"the first", "later ones"} {
				part := watched[i*machines : (i+1)*machines]
				late, requests := []float64{}, []float64{}
				for _, of := range part {
					late, requests = append(late, of.late), append(requests, of.requests)
				}
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.2f\t%.0f\t%.2f\t%.0f\n", boot, map[bool]string{false: "polled", true: "Prefer: wait"}[hold], which,
					middle(late), slices.Max(late), middle(requests), 2*polls-boot.Seconds(), polls+1)
			}
		}
	}
	return w.Flush()
}

// boot is one boot as the provider saw it.
type boot struct {
	created        time.Time
	late, requests float64
}

// boot makes two sets of machines, one after the other, and gives them in that order.
func (b bench) boot(ctx context.Context, length time.Duration, hold bool) (watched []boot, err error) {
	s, err := b.stage(ctx, options{boot: length, hold: hold}, fmt.Sprintf(kinds[1].resource, 2*machines))
	if err != nil {
		return nil, err
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
	if _, err := s.command(ctx, arguments("apply", machines)...); err != nil {
		return nil, err
	}
	for _, vm := range s.vms.VMs() {
		times := asked["/v1/vms/"+vm.ID]
		// The last GET came after the boot's end, or was held until then.
		late := times[len(times)-1].Sub(vm.Created.Add(length)).Seconds()
		watched = append(watched, boot{vm.Created, max(0, late), float64(len(times))})
	}
	slices.SortFunc(watched, func(a, b boot) int { return a.created.Compare(b.created) })
	_, err = s.command(ctx, arguments("destroy", machines)...)
	return watched, err
}
