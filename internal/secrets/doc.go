// Package secrets sees that no secret is shown: a canary stands in every sensitive and write-only attribute of every type and
// of both provider blocks, found from the served schemas, and is looked for in messages, logs, plans and states, while the
// service repeats in its errors all that it is sent. It has tests only.
package secrets
