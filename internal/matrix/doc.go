// Package matrix tries every optional attribute and block of every type with every kind of nothing: absent, empty, unknown at
// plan and then each of these, against services that leave out, null or empty what they tell. What is tried comes from the
// served schemas, so that an attribute is covered on the day it is added. It has tests only.
package matrix
