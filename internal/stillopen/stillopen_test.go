package stillopen_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/stillopen"
)

func TestWhatIsOpenIsEnded(t *testing.T) {
	t.Parallel()
	var objects stillopen.Objects
	var mu sync.Mutex
	var ended []string
	for i := range 100 {
		id := fmt.Sprintf("sb-%03d", i)
		objects.Opened(id, func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, id)
			switch id {
			case "sb-007":
				return errors.New("refused")
			case "sb-008":
				panic("a fault")
			}
			return nil
		})
	}
	objects.Closed("sb-000")
	objects.Closed("never opened")
	err := objects.CloseAll(t.Context())
	if err == nil || !strings.Contains(err.Error(), "ending sb-007: refused") || !strings.Contains(err.Error(), "ending sb-008: the provider crashed: a fault") {
		t.Errorf("error %v", err)
	}
	if slices.Sort(ended); len(ended) != 99 || ended[0] != "sb-001" {
		t.Errorf("%d were ended, the first %s", len(ended), ended[0])
	}
	if err := objects.CloseAll(t.Context()); err != nil || len(ended) != 99 {
		t.Errorf("the second time: %v, %d ended", err, len(ended))
	}
}

func TestTheEndOfTheProgramWaitsForNobody(t *testing.T) {
	t.Parallel()
	var objects stillopen.Objects
	for i := range 50 {
		objects.Opened(fmt.Sprint(i), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := objects.CloseAll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
