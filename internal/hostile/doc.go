// Package hostile puts both providers, end to end, against services that are broken or mean it: answers without end, drops by
// the second, redirects in circles, certificates that don't hold, ids that would lead elsewhere. Each ends within its deadline,
// with an error that says what is wrong, and in bounded memory. It has tests only.
package hostile
