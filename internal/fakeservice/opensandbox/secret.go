package opensandbox

// Secret is a value that a request held and that must not show up in a test's output: it prints as a word of its own.
type Secret struct{ value string }

// Is reports whether the secret is value.
func (s Secret) Is(value string) bool { return s.value == value }

// Given reports whether there was one.
func (s Secret) Given() bool { return s.value != "" }

// String hides the value.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "(secret)"
}

// GoString hides the value.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
