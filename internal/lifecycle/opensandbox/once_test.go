package opensandbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
	fake "github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/opensandbox"
)

// lost are the faults that leave the outcome of a create open, and some that only seem to.
var lost = []faults.Fault{
	{Kind: faults.Status, Status: 500},
	{Kind: faults.Status, Status: 500, Body: "oops"},
	{Kind: faults.Status, Status: 503},
	{Kind: faults.StatusAfter, Status: 500},
	{Kind: faults.StatusAfter, Status: 502, Body: "bad gateway"},
	{Kind: faults.StatusAfter, Status: 504, Body: "gateway timeout"},
	{Kind: faults.StatusAfter, Status: 504, Body: `{"code":"KUBERNETES::POD_READY_TIMEOUT","message":"late"}`},
	{Kind: faults.HTML, Status: 502},
	{Kind: faults.ResetBefore},
	{Kind: faults.ResetAfter},
	{Kind: faults.Cut},
	{Kind: faults.Garbage},
	{Kind: faults.Garbage, Body: `{"id": 7, "status": "Running"}`},
	{Kind: faults.Garbage, Body: `[]`},
	{Kind: faults.Empty},
}

// exactlyOne says what is wrong unless the server holds just what a create told of.
func (w *world) exactlyOne(usable *Usable, err error) string {
	ids := w.ids()
	var failure *CreateError
	switch {
	case err == nil && !slices.Equal(ids, []string{usable.Sandbox.ID}):
		return fmt.Sprintf("made %s, and the server holds %v", usable.Sandbox.ID, ids)
	case err == nil && w.lastNoted() != usable.Sandbox.ID:
		return fmt.Sprintf("made %s and noted %s", usable.Sandbox.ID, w.lastNoted())
	case err != nil && !errors.As(err, &failure):
		return fmt.Sprintf("the error is %T: %v", err, err)
	case err != nil && failure.Stands():
		return fmt.Sprintf("it was left standing: %v", err)
	case err != nil && len(ids) > 0:
		return fmt.Sprintf("the server holds %v after the error: %v", ids, err)
	}
	return ""
}

func TestExactlyOnceUnderEachFault(t *testing.T) {
	t.Parallel()
	for i, fault := range lost {
		for _, lag := range []time.Duration{0, 4 * time.Second} {
			for times := 1; times <= 2; times++ {
				t.Run(fmt.Sprintf("%d %s %d, lag %s, %d times", i, fault.Kind, fault.Status, lag, times), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, fake.Options{ListLag: lag})
					fault.Method, fault.Path, fault.Times = "POST", "/v1/sandboxes", times
					w.server.Faults().Order(fault)
					usable, err := w.Create(t.Context(), w.spec())
					if err != nil {
						t.Fatal(err)
					}
					if wrong := w.exactlyOne(usable, err); wrong != "" {
						t.Error(wrong)
					}
				})
			}
		}
	}
}

func TestNoneIsLeftWhenTheFaultStays(t *testing.T) {
	t.Parallel()
	for i, fault := range lost {
		t.Run(fmt.Sprintf("%d %s %d", i, fault.Kind, fault.Status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fake.Options{ListLag: 20 * time.Second})
			fault.Method, fault.Path, fault.Times = "POST", "/v1/sandboxes", -1
			w.server.Faults().Order(fault)
			usable, err := w.Create(t.Context(), w.spec())
			if err == nil {
				return // the list came to show it in time: that is as good
			}
			var failure *CreateError
			if !errors.As(err, &failure) || usable != nil {
				t.Fatal(err)
			}
			// A list that lags by more than it is given can't be helped: then the error has to say so.
			if ids := w.ids(); len(ids) > 0 && (!failure.Doubt || !strings.Contains(err.Error(), failure.CreateID)) {
				t.Errorf("the server holds %v, and the error says %q: %v", ids, failure.Fate, err)
			}
		})
	}
}

// TestExactlyOnceUnderRandomFaults mixes faults on every request of a create. A run that fails is repeated by its seed.
func TestExactlyOnceUnderRandomFaults(t *testing.T) {
	t.Parallel()
	runs := uint64(200)
	if testing.Short() {
		runs = 50
	}
	made := 0
	for seed := range runs {
		w, ordered := randomWorld(t, seed)
		usable, err := w.Create(t.Context(), w.spec())
		if wrong := w.exactlyOne(usable, err); wrong != "" {
			t.Errorf("seed %d: %s\nfaults:\n%s\ntold:\n%s", seed, wrong, ordered, strings.Join(w.told, "\n"))
		}
		if err == nil {
			made++
		}
	}
	if uint64(made) < runs/2 {
		t.Errorf("only %d of %d creates got through: the faults are too many to prove anything", made, runs)
	}
}

func randomWorld(t *testing.T, seed uint64) (*world, string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 42))
	options := fake.Options{
		Seed:       int64(seed) + 1,
		Kubernetes: random.IntN(3) == 0,
		Async:      random.IntN(3) == 0,
		ListLag:    time.Duration(random.IntN(5)) * time.Second,
		ExecdDelay: time.Duration(random.IntN(3)) * time.Second,
		PullDelay:  time.Duration(random.IntN(60)) * time.Second,
		ReadyDelay: time.Duration(random.IntN(20)) * time.Second,
	}
	w := newWorld(t, options, func(s *Settings) { s.ServerProxy = random.IntN(2) == 0 })
	var ordered []string
	order := func(fault faults.Fault) {
		w.server.Faults().Order(fault)
		ordered = append(ordered, fmt.Sprintf("%+v", fault))
	}
	for range random.IntN(3) {
		fault := lost[random.IntN(len(lost))]
		fault.Method, fault.Path = "POST", "/v1/sandboxes"
		order(fault)
	}
	// Whatever else is asked may go wrong too, though not for ever.
	for range random.IntN(6) {
		fault := lost[random.IntN(len(lost))]
		fault.Method, fault.Path = "", []string{"/v1/sandboxes", "/v1/sandboxes/**", "/direct/**", "/sandboxes/**"}[random.IntN(4)]
		fault.Skip = random.IntN(6)
		if fault.Path == "/v1/sandboxes" {
			fault.Method = "GET"
		}
		order(fault)
	}
	return w, strings.Join(ordered, "\n")
}

func TestLateArrivalsAreDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{ListLag: 7 * time.Second})
	// The first create is handled and its answer lost; the list shows it too late to be adopted.
	w.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes", Kind: faults.ResetAfter})
	usable, err := w.Create(t.Context(), w.spec())
	if wrong := w.exactlyOne(usable, err); err != nil || wrong != "" {
		t.Fatal(err, wrong)
	}
	if posts := w.count(http.MethodPost); posts != 2 {
		t.Errorf("%d requests: the case isn't the one that is meant", posts)
	}
}

func TestSandboxesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	other := w.mustCreate(t, w.spec()).Sandbox.ID
	w.server.Faults().Order(
		faults.Fault{Method: "POST", Path: "/v1/sandboxes", Kind: faults.ResetAfter},
		// A gateway that drops the query lets the list show everything.
		faults.Fault{Method: "GET", Path: "/v1/sandboxes", Kind: faults.Garbage, Body: `{"items":[{"id":"` + other + `","status":{"state":"Running"},"metadata":{"agentenv.dev/create-id":"another"}}],"pagination":{"hasNextPage":false}}`},
	)
	usable, err := w.Create(t.Context(), w.spec())
	if err != nil {
		t.Fatal(err)
	}
	if ids := w.ids(); !slices.Equal(ids, []string{other, usable.Sandbox.ID}) {
		t.Errorf("the server holds %v; want %s and %s", ids, other, usable.Sandbox.ID)
	}
}

func TestAListThatNeverComesForbidsASecondRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{})
	w.server.Faults().Order(
		faults.Fault{Method: "POST", Path: "/v1/sandboxes", Kind: faults.ResetBefore},
		faults.Fault{Method: "GET", Path: "/v1/sandboxes", Status: 500, Times: -1},
	)
	failure := w.mustFail(t.Context(), t, w.spec())
	if w.count(http.MethodPost) != 1 || failure.Fate != FateUnknown || !strings.Contains(failure.Error(), failure.CreateID) {
		t.Errorf("asked %d times; %v", w.count(http.MethodPost), failure)
	}
}

func TestAStrayThatCantBeDeletedIsToldOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fake.Options{ListLag: 7 * time.Second})
	w.server.Faults().Order(
		faults.Fault{Method: "POST", Path: "/v1/sandboxes", Kind: faults.ResetAfter},
		faults.Fault{Method: "DELETE", Status: 403, Times: -1},
	)
	usable, err := w.Create(t.Context(), w.spec())
	if err != nil || len(usable.Warnings) != 1 || !strings.Contains(usable.Warnings[0], usable.CreateID) {
		t.Fatalf("%+v, %v", usable, err)
	}
	spec := w.spec()
	spec.SetupScript = "exit 1"
	w.server.Faults().Order(faults.Fault{Method: "POST", Path: "/v1/sandboxes", Kind: faults.ResetAfter})
	failure := w.mustFail(t.Context(), t, spec)
	if failure.Fate != FateUndeleted || failure.ID == "" || w.lastNoted() != failure.ID {
		t.Errorf("%v", failure)
	}
}
