package attribution

import (
	"maps"
	"regexp"
	"testing"
)

func source(login string, environment map[string]string) Source {
	return Source{Getenv: func(name string) string { return environment[name] }, Login: func() string { return login }}
}

func TestEachFieldTakesItsFirstSource(t *testing.T) {
	slurm := map[string]string{"SLURM_JOB_ACCOUNT": "account", "SLURM_JOB_USER": "slurmer", "SLURM_JOB_NAME": "job"}
	gym := merge(slurm, map[string]string{"NEMO_GYM_TEAM": " team ", "NEMO_GYM_USER": "gymmer", "NEMO_GYM_WORKLOAD": "bench", "NEMO_GYM_RUN_ID": "run-1", "TFC_RUN_ID": "run-2"})
	blank := merge(slurm, map[string]string{"NEMO_GYM_TEAM": "  ", "TFC_RUN_ID": "run-2"})
	for title, c := range map[string]struct {
		settings Settings
		source   Source
		want     map[string]string
	}{
		"off":                {Settings{Team: "x"}, source("ada", gym), nil},
		"attributes win":     {Settings{Enabled: true, Team: "a", User: "b", Workload: "c", Run: "d"}, source("ada", gym), map[string]string{"team": "a", "user": "b", "workload": "c", "run": "d"}},
		"gym before slurm":   {Settings{Enabled: true}, source("ada", gym), map[string]string{"team": "team", "user": "gymmer", "workload": "bench", "run": "run-1"}},
		"blank is unset":     {Settings{Enabled: true}, source("ada", blank), map[string]string{"team": "account", "user": "slurmer", "workload": "job", "run": "run-2"}},
		"login":              {Settings{Enabled: true, Run: "r"}, source("ada", nil), map[string]string{"user": "ada", "run": "r"}},
		"nobody":             {Settings{Enabled: true, Run: "r"}, source("", nil), map[string]string{"run": "r"}},
		"config path":        {Settings{Enabled: true, Run: "r"}, source("", map[string]string{"NEMO_GYM_CONFIG_PATH": "path", "TFC_WORKSPACE_NAME": "ws"}), map[string]string{"workload": "path", "run": "r"}},
		"workspace":          {Settings{Enabled: true, Run: "r"}, source("", map[string]string{"TFC_WORKSPACE_NAME": "ws"}), map[string]string{"workload": "ws", "run": "r"}},
		"prefix":             {Settings{Enabled: true, Run: "r", KeyPrefix: " example.com "}, source("", nil), map[string]string{"example.com/run": "r"}},
		"prefix with stroke": {Settings{Enabled: true, Run: "r", KeyPrefix: "example.com/"}, source("", nil), map[string]string{"example.com/run": "r"}},
	} {
		if got := c.settings.Labels(c.source); !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", title, got, c.want)
		}
	}
}

func TestRunIsTheSameForAllOfAProcess(t *testing.T) {
	first, second := Settings{Enabled: true}.Labels(source("", nil))["run"], Settings{Enabled: true}.Labels(source("", nil))["run"]
	if first != second || !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(first) {
		t.Errorf("got %q and %q", first, second)
	}
}

// merge lays the tables over each other.
func merge(layers ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, layer := range layers {
		maps.Copy(all, layer)
	}
	return all
}
