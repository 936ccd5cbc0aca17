// Package attribution finds out for whom a machine is made: team, user, workload and run. The sources and their order
// are those of the OpenSandbox provider page of NeMo Gym ("Job Attribution").
package attribution

import (
	"os"
	"os/user"
	"strings"
	"sync"

	"github.com/agentenv/terraform-provider-gpuvm/internal/uuid"
)

// Settings is the provider's attribution block. An empty field is looked up in the environment.
type Settings struct {
	Enabled                   bool
	KeyPrefix                 string // put before each key; "" leaves them bare
	Team, User, Workload, Run string
}

// Source is where values come from that the block doesn't give.
type Source struct {
	Getenv func(string) string
	Login  func() string // the name of the user that runs Terraform, "" where unknown
}

// Environment is the source that a provider process has.
func Environment() Source {
	return Source{Getenv: os.Getenv, Login: login}
}

// login is the operating system's name of the user. root says nothing about a person: containers run as root.
func login() string {
	current, err := user.Current()
	if err != nil || strings.EqualFold(current.Username, "root") {
		return ""
	}
	return current.Username
}

// run identifies this process where nothing else names the run.
var run = sync.OnceValue(func() string { return strings.ReplaceAll(uuid.New(), "-", "")[:12] })

// Labels gives the labels that attribute a machine, without those that can't be told; nil where attribution is off.
func (s Settings) Labels(from Source) map[string]string {
	if !s.Enabled {
		return nil
	}
	found := map[string]string{
		"team":     from.first(s.Team, "NEMO_GYM_TEAM", "SLURM_JOB_ACCOUNT"),
		"user":     from.first(s.User, "NEMO_GYM_USER", "SLURM_JOB_USER"),
		"workload": from.first(s.Workload, "NEMO_GYM_WORKLOAD", "SLURM_JOB_NAME", "NEMO_GYM_CONFIG_PATH", "TFC_WORKSPACE_NAME"),
		"run":      from.first(s.Run, "NEMO_GYM_RUN_ID", "TFC_RUN_ID"),
	}
	if found["user"] == "" {
		found["user"] = strings.TrimSpace(from.Login())
	}
	if found["run"] == "" {
		found["run"] = run()
	}
	labels := map[string]string{}
	for key, value := range found {
		if value != "" {
			labels[s.prefix()+key] = value
		}
	}
	return labels
}

func (s Settings) prefix() string {
	prefix := strings.TrimSpace(s.KeyPrefix)
	if prefix == "" || strings.HasSuffix(prefix, "/") {
		return prefix
	}
	return prefix + "/"
}

func (f Source) first(value string, variables ...string) string {
	if value = strings.TrimSpace(value); value != "" {
		return value
	}
	for _, variable := range variables {
		if value = strings.TrimSpace(f.Getenv(variable)); value != "" {
			return value
		}
	}
	return ""
}
