package history

import (
	"maps"
	"slices"
)

// Shrink makes a history that fails as small as it can: it leaves out whatever the failure doesn't need. fails runs a history
// and says whether it still fails; it is called at most tries times.
func Shrink(h History, tries int, fails func(History) bool) History {
	for smaller := true; smaller; {
		smaller = false
		for _, candidate := range h.smaller() {
			if tries--; tries < 0 {
				return h
			}
			if fails(candidate) {
				h, smaller = candidate, true
				break
			}
		}
	}
	return h
}

// smaller lists what the history is without one of its parts, the largest part first.
func (h History) smaller() []History {
	var all []History
	without := func(change func(*History)) {
		less := h.clone()
		change(&less)
		all = append(all, less)
	}
	for i := range h.Steps {
		without(func(h *History) { h.Steps = slices.Delete(h.Steps, i, i+1) })
	}
	for i, step := range h.Steps {
		for j := range step.Faults {
			without(func(h *History) { h.Steps[i].Faults = slices.Delete(h.Steps[i].Faults, j, j+1) })
		}
		if step.Interrupt > 0 {
			without(func(h *History) { h.Steps[i].Interrupt = 0 })
		}
	}
	for i := range h.Temper {
		without(func(h *History) { h.Temper = slices.Delete(h.Temper, i, i+1) })
	}
	for _, name := range slices.Sorted(maps.Keys(h.Settings)) {
		without(func(h *History) { delete(h.Settings, name) })
	}
	return append(all, h.plainer()...)
}

// plainer lists what the history is with less in one of its configurations.
func (h History) plainer() []History {
	var all []History
	for i, step := range h.Steps {
		if len(step.Late) > 0 {
			less := h.clone()
			less.Steps[i].Late = nil
			all = append(all, less)
		}
		for _, name := range slices.Sorted(maps.Keys(step.Config)) {
			less := h.clone()
			if least, needed := h.Type.Smallest[name]; !needed {
				delete(less.Steps[i].Config, name)
			} else if encoded(least) != encoded(step.Config[name]) {
				less.Steps[i].Config[name] = least
			} else {
				continue
			}
			all = append(all, less)
		}
	}
	return all
}
