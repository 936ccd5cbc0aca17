package apiclient

import (
	"math/rand/v2"
	"time"
)

// Backoff is how long a caller waits before its n-th repetition, from 0, of a request that this client doesn't repeat by
// itself, such as a create whose outcome had to be found out first.
func (c *Client) Backoff(n int) time.Duration {
	return backoff(c.retry.minDelay, c.retry.maxDelay, n, rand.Float64())
}
