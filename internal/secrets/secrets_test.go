package secrets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"
	"github.com/hashicorp/terraform-plugin-log/tfsdklogtest"

	"github.com/agentenv/terraform-provider-gpuvm/internal/figures"
	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

func TestNoSecretIsShown(t *testing.T) {
	for _, of := range subject.All() {
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			schemas, err := of.Served(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w := newWatch(t, of, schemas)
			echoes := 0
			for _, kind := range append(of.Requests, subject.Request{Method: "none"}) {
				for skip := range 6 { // the first of a kind often ends the create
					form := slices.Sorted(maps.Keys(forms))[skip%len(forms)]
					name := fmt.Sprintf("%s %s after %d in %s", kind.Method, strings.ReplaceAll(kind.Path, "/", " "), skip, form)
					t.Run(name, func(t *testing.T) { echoes += w.try(t, kind, skip, form) })
				}
			}
			figures.Tell(t, "secrets-"+of.Name, fmt.Sprintf("%s: %d canaries in sensitive and write-only attributes, %d answers that repeat all that was sent; shown: 0", of.Name, len(w.canaries()), echoes))
		})
	}
}

// forms are how a service repeats what it was sent.
var forms = map[string]func(w http.ResponseWriter, told string){
	"json": func(w http.ResponseWriter, told string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		encoded, err := json.Marshal(map[string]string{"error": told, "message": told, "code": "X"})
		if err != nil { // texts are always JSON
			panic(err)
		}
		_, _ = w.Write(encoded) // to a recorder
	},
	"text": func(w http.ResponseWriter, told string) {
		http.Error(w, told, http.StatusConflict)
	},
	"html": func(w http.ResponseWriter, told string) {
		w.Header().Set("X-Request-Id", strings.TrimSpace(told[:min(len(told), 60)]))
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<html><title>"+told+"</title></html>")
	},
}

// watch looks for the canaries of one type.
type watch struct {
	of         *subject.Type
	schemas    *core.Schemas
	ofObject   []canary
	ofProvider []canary
	settings   map[string]any
}

func newWatch(t *testing.T, of *subject.Type, schemas *core.Schemas) *watch {
	t.Helper()
	w := &watch{of: of, schemas: schemas, settings: of.SecretSettings}
	probe := of.Start(nil)
	defer probe.Close()
	settings := probe.Settings()
	for name, value := range w.settings {
		settings[name] = value
	}
	var missing, missingSettings []string
	missing = nil
	for i, config := range of.Secret {
		found, lacking := canaries(schemas.ResourceSchemas[of.Name].Block, config)
		w.ofObject = append(w.ofObject, found...)
		if i == 0 {
			missing = lacking
		}
		missing = slices.DeleteFunc(missing, func(path string) bool { return !slices.Contains(lacking, path) })
	}
	w.ofProvider, missingSettings = canaries(schemas.Provider.Block, settings)
	for i := range w.ofProvider {
		w.ofProvider[i].value = strings.TrimSpace(w.ofProvider[i].value)
	}
	for _, path := range append(missing, missingSettings...) {
		t.Errorf("%s is sensitive and has no canary: plant one in internal/subject", path)
	}
	return w
}

func (w *watch) canaries() []canary {
	return append(append([]canary(nil), w.ofObject...), w.ofProvider...)
}

// try lives through an object's life while one kind of request is answered with all that it was sent.
func (w *watch) try(t *testing.T, kind subject.Request, skip int, form string) (echoes int) {
	synctest.Test(t, func(t *testing.T) {
		echo := &echo{kind: kind, skip: skip, answer: forms[form]}
		world := w.of.Begin(w.schemas, map[string]bool{"knows-keys": true}, echo.wrap)
		defer world.End()
		logs := &log{}
		ctx := tflogtest.RootLogger(world.Context(t.Context()), logs)
		ctx = tfsdklogtest.RootLogger(ctx, logs)
		p, configured := world.Provider(ctx, w.settings)
		what := fmt.Sprintf("%s %s answers in %s with what it was sent", kind.Method, kind.Path, form)
		if configured.Failed() {
			t.Fatalf("%s: %s", what, configured)
		}
		var object *core.Object
		for _, config := range w.of.Secret {
			up := p.Up(ctx, w.of.Name, object, config, config)
			w.judge(t, what+", apply", up)
			if object = up.Object; kind.Method == "none" && up.Failed() {
				t.Errorf("without an echo it fails: %s", up)
			}
		}
		if object != nil {
			w.judge(t, what+", destroy", p.Down(ctx, object))
		}
		for _, c := range append(w.ofObject, w.ofProvider...) {
			if text := logs.String(); c.shows(text) {
				t.Errorf("%s: the log shows %s: %s", what, c.path, around(text, c.value))
			}
		}
		echoes = echo.count
	})
	return echoes
}

func (w *watch) judge(t *testing.T, what string, out core.Outcome) {
	t.Helper()
	for _, fault := range out.Faults {
		t.Errorf("%s: %s", what, fault)
	}
	for _, c := range append(w.ofObject, w.ofProvider...) {
		for _, d := range out.Diagnostics {
			if c.shows(d.Summary + "\n" + d.Detail) {
				t.Errorf("%s: the message shows %s: %s: %s", what, c.path, d.Summary, d.Detail)
			}
		}
	}
	for _, kept := range out.Kept {
		for _, c := range w.ofObject {
			if c.writeOnly && c.shows(kept.Text) {
				t.Errorf("%s: %s holds the write-only %s", what, kept.Where, c.path)
			}
		}
		for _, c := range w.ofProvider {
			if c.shows(kept.Text) {
				t.Errorf("%s: %s holds the provider's %s", what, kept.Where, c.path)
			}
		}
	}
}

func around(text, secret string) string {
	at := strings.Index(text, secret)
	for line := range strings.Lines(secret) {
		if at < 0 {
			at = strings.Index(text, strings.TrimSpace(line))
		}
	}
	return text[max(0, at-200):min(len(text), at+200)]
}

// echo answers one kind of request with all that it was sent.
type echo struct {
	kind   subject.Request
	answer func(http.ResponseWriter, string)
	skip   int
	count  int
}

func (e *echo) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.kind.Method == "none" || !e.kind.Matches(r.Method, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		if e.skip--; e.skip >= 0 {
			next.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body) // what can't be read can't be repeated
		e.count++
		e.answer(w, fmt.Sprintf("%s (you sent %v to %s)", body, r.Header, r.URL))
	})
}

// log keeps what is logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
