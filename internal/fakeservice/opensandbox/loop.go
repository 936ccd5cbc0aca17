package opensandbox

import "sync"

// loop is the real server's one thread: while a Docker create works, nothing else is answered. Waiting for it is waiting on a
// sync.Cond, since a test that holds the time (testing/synctest) takes a goroutine that waits for a mutex for a busy one.
// The zero value is free.
type loop struct {
	mu    sync.Mutex
	freed sync.Cond
	taken bool
}

// take waits until the loop is free, and keeps it until free.
func (l *loop) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.await()
	l.taken = true
}

func (l *loop) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = false
	l.freed.Broadcast()
}

// pass waits until the loop is free.
func (l *loop) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.await()
}

func (l *loop) await() {
	l.freed.L = &l.mu
	for l.taken {
		l.freed.Wait()
	}
}
