package apiclient

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// connections keeps the number of connections to a service at that of the most attempts at once. net/http alone dials for every attempt that
// finds no idle connection, and goes on dialling when another's becomes free first: fifty at once over a slow handshake make a hundred.
type connections struct {
	direct Dialer

	mu       sync.Mutex
	services map[string]*serviceConnections
}

type serviceConnections struct {
	attempts, most, open int
	changed              chan struct{} // closed when most or open changes
}

// longestDialWait is how long a dial is put off at most. The connection that it waits for is nearly always there at once; should net/http keep
// one for itself in a way that this doesn't know of, no more than this is lost.
const longestDialWait = time.Second

var errNoLongerWanted = errors.New("another connection became free first")

// place is an attempt's right to a connection.
type place struct {
	connections *connections
	service     string // URL scheme and host
	served      context.Context
	got         context.CancelFunc // it has a connection, or wants none any more
}

type placeKey struct{}

// enter counts an attempt in; leave it once its connection is free again.
func (c *connections) enter(ctx context.Context, service string) (context.Context, *place) {
	p := &place{connections: c, service: service}
	p.served, p.got = context.WithCancel(context.WithoutCancel(ctx))
	c.change(service, func(s *serviceConnections) {
		s.attempts++
		s.most = max(s.most, s.attempts)
	})
	return context.WithValue(ctx, placeKey{}, p), p
}

func (p *place) leave() {
	p.got()
	p.connections.change(p.service, func(s *serviceConnections) { s.attempts-- })
}

func (c *connections) change(service string, change func(*serviceConnections)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.services == nil {
		c.services = map[string]*serviceConnections{}
	}
	s := c.services[service]
	if s == nil {
		s = &serviceConnections{changed: make(chan struct{})}
		c.services[service] = s
	}
	before := *s
	change(s)
	if s.most > before.most || s.open < before.open {
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// dial is net/http's DialContext. Its context has the values of the attempt's, but outlives it.
func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	p, known := ctx.Value(placeKey{}).(*place)
	if !known {
		return c.direct(ctx, network, address)
	}
	if err := c.open(ctx, p); err != nil {
		return nil, err
	}
	closed := sync.OnceFunc(func() { c.change(p.service, func(s *serviceConnections) { s.open-- }) })
	conn, err := c.direct(ctx, network, address)
	if err != nil {
		closed()
		return nil, err
	}
	return &countedConn{conn, closed}, nil
}

// open waits until there may be one connection more, and counts it. While there may not, one of them is free or about to be, as there are at
// least as many as attempts and the one that waits has none.
func (c *connections) open(ctx context.Context, p *place) error {
	patience := time.NewTimer(longestDialWait)
	defer patience.Stop()
	for waited := false; ; {
		may, changed := false, (<-chan struct{})(nil)
		c.change(p.service, func(s *serviceConnections) {
			if may = s.open < s.most || waited; may {
				s.open++
			}
			changed = s.changed
		})
		if may {
			return nil
		}
		select {
		case <-changed:
		case <-patience.C:
			waited = true
		case <-p.served.Done():
			return errNoLongerWanted
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
