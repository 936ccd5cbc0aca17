package gpuvm

import (
	"maps"
	"slices"
)

// VMs lists the machines that live, oldest first; one that is being deleted is not among them.
func (s *Service) VMs() []VM {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []VM
	for _, v := range s.living() {
		all = append(all, s.snapshot(v))
	}
	return all
}

// living gives the machines that VMs lists, with their status of now. The caller holds the lock.
func (s *Service) living() []*vm {
	now := s.clock.Now()
	s.expire(now)
	all := make([]*vm, 0, len(s.vms))
	for _, v := range s.vms {
		if v.gone.IsZero() {
			v.settle(now)
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b *vm) int { return a.number - b.number })
	return all
}

// Created counts the machines that were ever made.
func (s *Service) Created() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.created
}

// VM gives a machine that lives.
func (s *Service) VM(id string) (VM, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.find(id, s.clock.Now())
	if v == nil || !v.gone.IsZero() {
		return VM{}, false
	}
	return s.snapshot(v), true
}

// change does something to a machine that lives, and tells whether there was one.
func (s *Service) change(id string, do func(*vm)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.find(id, s.clock.Now())
	if v == nil || !v.gone.IsZero() {
		return false
	}
	do(v)
	return true
}

// Delete removes a machine at once, as somebody else would. It tells whether there was one.
func (s *Service) Delete(id string) bool { return s.change(id, s.drop) }

// Fail makes a machine failed with that error.
func (s *Service) Fail(id, text string) bool {
	return s.change(id, func(v *vm) { v.become(Failed, text) })
}

// FailNextBoots makes the next n machines that are created fail to boot with that error.
func (s *Service) FailNextBoots(n int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failNext, s.failText = n, text
}

// SetLabels replaces a machine's labels, as somebody else would.
func (s *Service) SetLabels(id string, labels map[string]string) bool {
	return s.change(id, func(v *vm) { v.spec.Labels = maps.Clone(labels) })
}

// ClosePort makes the service tell a port no more.
func (s *Service) ClosePort(id string, port int) bool {
	return s.change(id, func(v *vm) { v.closed[port] = true })
}
