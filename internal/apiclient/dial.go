package apiclient

import (
	"context"
	"net"
)

// Dialer makes a connection, as the DialContext of net.Dialer does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

type dialerKey struct{}

// WithDialer gives a context whose requests go over connections that dial makes. It lets a test hold a service in memory, and so the time of
// both (testing/synctest): the deadlines and pauses of a request are then the real ones, and take no time.
func WithDialer(ctx context.Context, dial Dialer) context.Context {
	return context.WithValue(ctx, dialerKey{}, dial)
}

// dialWith is dial, unless the context of the request has another.
func dialWith(dial Dialer) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if other, ok := ctx.Value(dialerKey{}).(Dialer); ok {
			return other(ctx, network, address)
		}
		return dial(ctx, network, address)
	}
}
