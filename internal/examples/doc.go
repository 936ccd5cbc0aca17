// Package examples holds no code, but the tests of the documentation's examples: each folder of examples/ is run as a user would
// run it, with the built providers against the fake services.
package examples
