package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// leftovers says what the services still hold, "" for nothing. It asks the services themselves, not the state that
// the providers keep.
func (s *services) leftovers(ctx context.Context) (string, error) {
	var left []string
	vms, err := s.virtualMachines(ctx)
	if err != nil {
		return "", err
	}
	if vms != 0 {
		left = append(left, fmt.Sprintf("%d virtual machines", vms))
	}
	sandboxes, err := s.sandboxes(ctx)
	if err != nil {
		return "", err
	}
	if sandboxes != 0 {
		left = append(left, fmt.Sprintf("%d sandboxes", sandboxes))
	}
	return strings.Join(left, " and "), nil
}

// virtualMachines asks the fake itself, since the VM service's API has no list.
func (s *services) virtualMachines(ctx context.Context) (int, error) {
	var vms []json.RawMessage
	err := getJSON(ctx, s.setting("GPU_VM_URL")+"/_fake/vms", nil, &vms)
	return len(vms), err
}

func (s *services) sandboxes(ctx context.Context) (int, error) {
	domain := s.setting("OPEN_SANDBOX_DOMAIN")
	if domain == "" {
		return 0, nil
	}
	if !strings.Contains(domain, "://") {
		domain = "http://" + domain
	}
	var list struct {
		Pagination struct{ TotalItems int }
	}
	header := http.Header{"OPEN-SANDBOX-API-KEY": {s.setting("OPEN_SANDBOX_API_KEY")}}
	err := getJSON(ctx, domain+"/v1/sandboxes", header, &list)
	return list.Pagination.TotalItems, err
}

func getJSON(ctx context.Context, url string, header http.Header, out any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking a fake service: %w", err)
	}
	for name, values := range header {
		request.Header.Set(name, values[0])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking a fake service: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("asking a fake service: GET %s: HTTP %d", url, answer.StatusCode)
	}
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		return fmt.Errorf("asking a fake service: GET %s: %w", url, err)
	}
	return nil
}
