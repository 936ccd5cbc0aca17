package gpuvm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

func (s *Service) postVM(w http.ResponseWriter, r *http.Request, _ string) {
	body, ok := s.readJSON(w, r, maxCreateBody)
	if !ok {
		return
	}
	spec, err := decodeSpec(body)
	if err != nil {
		s.fail(w, r, http.StatusBadRequest, "%v", err)
		return
	}
	key := ""
	if s.options.IdempotencyKeys {
		key = r.Header.Get("Idempotency-Key")
	}
	s.mu.Lock()
	status, answered, replayed := s.createOnce(r, spec, key, sha256.Sum256(body))
	s.mu.Unlock()
	if replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	if status != http.StatusCreated {
		s.fail(w, r, status, "%s", answered)
		return
	}
	send(w, status, answered)
}

// createOnce makes a machine, unless the key was used before. The caller holds the lock.
func (s *Service) createOnce(r *http.Request, spec Spec, key string, request [32]byte) (status int, body []byte, replayed bool) {
	if first, used := s.keys.answers[key]; used && key != "" {
		if first.request != request {
			return http.StatusUnprocessableEntity, []byte("the idempotency key was used for another request"), false
		}
		return http.StatusCreated, first.body, true
	}
	now := s.clock.Now()
	s.expire(now)
	if len(s.vms) >= s.options.MaxVMs {
		return http.StatusServiceUnavailable, []byte("no capacity left"), false
	}
	v := s.boot(r, spec, key, now)
	body, err := json.Marshal(s.answer(v))
	if err != nil { // nothing in an answer can fail to be JSON
		panic(err)
	}
	if key != "" {
		s.keys.remember(key, firstAnswer{request, body})
	}
	return http.StatusCreated, body, false
}

func (s *Service) boot(r *http.Request, spec Spec, key string, now time.Time) *vm {
	base := s.options.URL
	if base == "" {
		base = "http://" + r.Host
		if r.TLS != nil {
			base = "https://" + r.Host
		}
	}
	v := &vm{
		id: s.newID(), key: key, base: base, spec: spec, created: now, boots: now.Add(s.options.BootDelay),
		expires: now.Add(lifetime(spec.TTLSeconds)), status: Booting, closed: map[int]bool{},
	}
	v.bootError, v.never = s.fate(spec)
	v.inside = machine.New(v.id, map[string]string{"DISPLAY": ":0"}, machine.WithClock(s.clock))
	s.add(v)
	// The answer to a create always says "booting", as a real service's does, even where the boot takes no time.
	return v
}

// lifetime bounds a TTL to what a time.Duration can hold, about 292 years.
func lifetime(ttlSeconds int64) time.Duration {
	return time.Duration(min(ttlSeconds, int64(math.MaxInt64/time.Second))) * time.Second
}

// readJSON reads a body that must be JSON; else it answers with the error.
func (s *Service) readJSON(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		s.fail(w, r, http.StatusUnsupportedMediaType, "the content type must be application/json")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		s.failRead(w, r, err)
		return nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body)) // see EchoSecrets
	return body, true
}

func (s *Service) failRead(w http.ResponseWriter, r *http.Request, err error) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		s.fail(w, r, http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", tooLarge.Limit)
		return
	}
	s.fail(w, r, http.StatusBadRequest, "the body can't be read: %v", err)
}

// decodeSpec reads a create's body by the letter of the contract: every key but priority is needed, none may be added.
func decodeSpec(body []byte) (Spec, error) {
	fields, err := decodeObject(body)
	if err != nil {
		return Spec{}, err
	}
	var spec Spec
	into := map[string]any{
		"image": &spec.Image, "cpu": &spec.CPU, "memory_mb": &spec.MemoryMB, "disk_gb": &spec.DiskGB,
		"ttl_seconds": &spec.TTLSeconds, "ports": &spec.Ports, "labels": &spec.Labels, "priority": &spec.Priority,
	}
	if err := decodeFields(fields, into, "priority"); err != nil {
		return Spec{}, err
	}
	return spec, spec.check()
}

func (spec Spec) check() error {
	switch {
	case spec.Image == "":
		return errors.New("image must not be empty")
	case spec.CPU <= 0:
		return errors.New("cpu must be greater than 0")
	case spec.MemoryMB <= 0:
		return errors.New("memory_mb must be greater than 0")
	case spec.DiskGB <= 0:
		return errors.New("disk_gb must be greater than 0")
	case spec.TTLSeconds <= 0:
		return errors.New("ttl_seconds must be greater than 0")
	}
	for i, port := range spec.Ports {
		if port < 1 || port > 65535 {
			return fmt.Errorf("ports: %d is not within 1 to 65535", port)
		}
		if slices.Contains(spec.Ports[:i], port) {
			return fmt.Errorf("ports: %d stands there twice", port)
		}
	}
	return nil
}

// decodeObject reads one JSON object and nothing after it. Keys are taken by the letter: the standard decoder into a struct
// would also take Image for image.
func decodeObject(body []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if fields == nil {
		return nil, errors.New("the body is not a JSON object: it is null")
	}
	return fields, nil
}

// decodeFields reads each field into its place; those named in optional may be absent or null.
func decodeFields(fields map[string]json.RawMessage, into map[string]any, optional ...string) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if into[name] == nil {
			return fmt.Errorf("unknown field %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(into)) {
		raw, given := fields[name]
		isNull := string(raw) == "null"
		if slices.Contains(optional, name) && (!given || isNull) {
			continue
		}
		switch {
		case !given:
			return fmt.Errorf("missing field %q", name)
		case isNull || hasNull(raw):
			return fmt.Errorf("%s must not be null", name)
		}
		if err := json.Unmarshal(raw, into[name]); err != nil {
			return fmt.Errorf("%s has the wrong type: %w", name, err)
		}
	}
	return nil
}

// hasNull tells whether a list or an object has a null in it, which the standard decoder would take for a zero value.
func hasNull(raw json.RawMessage) bool {
	if !strings.Contains(string(raw), "null") {
		return false
	}
	var list []*json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return slices.Contains(list, nil)
	}
	var object map[string]*json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		return slices.Contains(slices.Collect(maps.Values(object)), nil)
	}
	return false
}
