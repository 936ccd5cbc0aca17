package history_test

import (
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/figures"
	"github.com/agentenv/terraform-provider-gpuvm/internal/history"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// Each environment variable changes what TestHistories runs:
//
//	SOAK=10m                          random seeds for so long in all, instead of the fixed ones
//	HISTORY=gpuvm_instance:17         that one seed of that type
//	HISTORIES=5000                    so many fixed seeds a type
const defaultHistories = 160

// besides is how many of a type that lives in or beside a machine: each takes as long, and there are many such types.
const besides = 30

// workers run histories at the same time: a bubble of time keeps about one processor busy.
const workers = 2

// shrinkingTries bounds how often a failing history is run again.
const shrinkingTries = 400

func TestHistories(t *testing.T) {
	debug.SetGCPercent(400) // most of the time would go into collecting what is small and short-lived
	only, seed, one := strings.Cut(os.Getenv("HISTORY"), ":")
	for _, of := range subject.All() {
		if one && of.Name != only {
			continue
		}
		t.Run(of.Name, func(t *testing.T) {
			schemas, err := of.Served(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c := campaign{of: of, schemas: schemas, next: seeds(t, of)}
			if one {
				c.next = once(t, seed)
			}
			c.run(t)
			figures.Tell(t, "histories-"+of.Name, of.Name+": "+c.all.String())
		})
	}
}

// campaign is many histories of one type.
type campaign struct {
	of      *subject.Type
	schemas *core.Schemas
	next    func() (seed uint64, ok bool)

	failed atomic.Bool
	mu     sync.Mutex
	all    history.Tally
}

func (c *campaign) run(t *testing.T) {
	t.Run("run", func(t *testing.T) {
		for i := range workers {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				for !c.failed.Load() {
					seed, more := c.next()
					if !more {
						return
					}
					c.try(t, seed)
				}
			})
		}
	})
}

func (c *campaign) try(t *testing.T, seed uint64) {
	h := history.Generate(c.of, c.schemas, seed)
	tally, err := history.Run(t, h, c.schemas)
	c.mu.Lock()
	c.all.Add(tally)
	c.mu.Unlock()
	if err == nil || c.failed.Swap(true) {
		return
	}
	small := history.Shrink(h, shrinkingTries, func(h history.History) bool {
		_, err := history.Run(t, h, c.schemas)
		return err != nil
	})
	_, again := history.Run(t, small, c.schemas)
	if again == nil {
		again = errors.New("(this failure comes and goes)")
	}
	t.Errorf("A promise is broken. This repeats it:\n\n  HISTORY=%s:%d go test -count=1 -run '^TestHistories$' ./internal/history\n\n%v\n\nThe history:\n%s\nWithout what it doesn't need:\n%s\n%v",
		c.of.Name, seed, err, h, small, again)
}

// seeds gives the fixed ones, or random ones until SOAK is over.
func seeds(t *testing.T, of *subject.Type) func() (uint64, bool) {
	var n atomic.Uint64
	if text := os.Getenv("SOAK"); text != "" {
		soak, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("SOAK: %v", err)
		}
		soak /= time.Duration(len(subject.All())) // each type has its share
		start := time.Now()
		n.Store(uint64(start.UnixNano()))
		return func() (uint64, bool) { return n.Add(1), time.Since(start) < soak }
	}
	last := uint64(besides)
	if strings.HasSuffix(of.Name, "_instance") || strings.HasSuffix(of.Name, "_sandbox") {
		last = defaultHistories
	}
	if text := os.Getenv("HISTORIES"); text != "" {
		var err error
		if last, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("HISTORIES: %v", err)
		}
	}
	return func() (uint64, bool) { seed := n.Add(1); return seed, seed <= last }
}

func once(t *testing.T, text string) func() (uint64, bool) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("HISTORY: %v", err)
	}
	var taken atomic.Bool
	return func() (uint64, bool) { return seed, !taken.Swap(true) }
}
