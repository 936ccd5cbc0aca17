package crash_test

import (
	"regexp"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/crash"
)

func TestAPanicIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	var err error
	func() {
		defer func() { err = crash.Recovered(recover()) }()
		inner(nil)
	}()
	const want = `^the provider crashed: runtime error: invalid memory address or nil pointer dereference \(crash_test\.go:\d+ < crash_test\.go:\d+ < crash_test\.go:\d+\)$`
	if !regexp.MustCompile(want).MatchString(err.Error()) {
		t.Errorf("it says %q", err)
	}
}

func inner(p *int) int { return *p }
