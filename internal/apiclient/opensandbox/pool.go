package opensandbox

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

// Pool is the server's answer about one pool. It never tells the template.
type Pool struct {
	Name      string      `json:"name"`
	Capacity  Capacity    `json:"capacitySpec"`
	Status    *PoolStatus `json:"status,omitempty"` // nil until the server has looked at the pool
	CreatedAt Time        `json:"createdAt,omitzero"`
}

// Capacity bounds a pool: how many sandboxes wait warm, and how many there are in all.
type Capacity struct {
	BufferMax int64 `json:"bufferMax"`
	BufferMin int64 `json:"bufferMin"`
	PoolMax   int64 `json:"poolMax"`
	PoolMin   int64 `json:"poolMin"`
}

// PoolStatus counts a pool's sandboxes.
type PoolStatus struct {
	Total     int64  `json:"total"`
	Allocated int64  `json:"allocated"`
	Available int64  `json:"available"`
	Revision  string `json:"revision"`
}

// CreatePool asks for a pool of the pod template, once. A name that is taken answers 409.
func (c *Client) CreatePool(ctx context.Context, name string, template json.RawMessage, capacity Capacity) (Pool, error) {
	body := struct {
		Name     string          `json:"name"`
		Template json.RawMessage `json:"template"`
		Capacity Capacity        `json:"capacitySpec"`
	}{name, template, capacity}
	return c.pool(ctx, apiclient.Request{Method: http.MethodPost, Path: []string{"pools"}, JSON: body})
}

// Pool reads a pool.
func (c *Client) Pool(ctx context.Context, name string) (Pool, error) {
	return c.pool(ctx, apiclient.Request{Method: http.MethodGet, Path: []string{"pools", name}})
}

// UpdatePool changes a pool's capacity; nothing else of it can change.
func (c *Client) UpdatePool(ctx context.Context, name string, capacity Capacity) (Pool, error) {
	body := map[string]Capacity{"capacitySpec": capacity}
	return c.pool(ctx, apiclient.Request{Method: http.MethodPut, Path: []string{"pools", name}, JSON: body})
}

// DeletePool asks for the pool's end.
func (c *Client) DeletePool(ctx context.Context, name string) error {
	return c.send(ctx, http.MethodDelete, "pools", name)
}

func (c *Client) pool(ctx context.Context, r apiclient.Request) (Pool, error) {
	var pool Pool
	if _, err := c.http.Do(ctx, r, &pool); err != nil {
		return Pool{}, err
	}
	if pool.Name == "" {
		return Pool{}, &MalformedError{Asked: asked(r.Method, r.Path...), Reason: "the pool has no name"}
	}
	return pool, nil
}
