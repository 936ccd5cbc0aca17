package terraformcore

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// differences lists where an outcome departs from what was planned. Only what was planned unknown is free.
func differences(path at, planned, actual tftypes.Value) []string {
	switch {
	case !planned.IsKnown():
		return nil
	case !actual.IsKnown():
		return []string{string(path) + ": was known, but is now unknown"}
	case planned.IsNull() && actual.IsNull():
		return nil
	case planned.IsNull() != actual.IsNull():
		return []string{fmt.Sprintf("%s: was %s, but is now %s", path, shown(planned), shown(actual))}
	}
	switch t := planned.Type(); {
	case isKeyed(t):
		return keyedDifferences(path, fields(planned), fields(actual))
	case t.Is(tftypes.List{}):
		return listDifferences(path, elements(planned), elements(actual))
	case t.Is(tftypes.Set{}):
		return setDifferences(path, elements(planned), elements(actual))
	case !planned.Equal(actual):
		return []string{fmt.Sprintf("%s: was %s, but is now %s", path, shown(planned), shown(actual))}
	}
	return nil
}

func keyedDifferences(path at, planned, actual map[string]tftypes.Value) []string {
	var found []string
	for _, key := range sortedNames(planned) {
		is, ok := actual[key]
		if !ok {
			found = append(found, string(path.key(key))+": has vanished")
			continue
		}
		found = append(found, differences(path.key(key), planned[key], is)...)
	}
	for _, key := range sortedNames(actual) {
		if _, ok := planned[key]; !ok {
			found = append(found, string(path.key(key))+": has appeared")
		}
	}
	return found
}

func listDifferences(path at, planned, actual []tftypes.Value) []string {
	if len(planned) != len(actual) {
		return []string{fmt.Sprintf("%s: had %d elements, now has %d", path, len(planned), len(actual))}
	}
	var found []string
	for i := range planned {
		found = append(found, differences(path.key(i), planned[i], actual[i])...)
	}
	return found
}

// setDifferences: each element must have a counterpart on the other side; what was unknown may turn out equal to another.
func setDifferences(path at, planned, actual []tftypes.Value) []string {
	if len(actual) > len(planned) {
		return []string{fmt.Sprintf("%s: had %d elements, now has %d", path, len(planned), len(actual))}
	}
	met := make([]bool, len(actual))
	for _, was := range planned {
		found := false
		for i, is := range actual {
			if len(differences(path, was, is)) == 0 {
				found, met[i] = true, true
			}
		}
		if !found {
			return []string{fmt.Sprintf("%s: no element corresponds to the planned %s", path, shown(was))}
		}
	}
	for i, is := range actual {
		if !met[i] {
			return []string{fmt.Sprintf("%s: element %s corresponds to none that was planned", path, shown(is))}
		}
	}
	return nil
}
