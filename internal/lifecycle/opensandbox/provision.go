package opensandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	api "github.com/agentenv/terraform-provider-gpuvm/internal/apiclient/opensandbox"
)

// defaultMode is what a file gets that says nothing of its mode: files of the seed are mostly scripts.
const defaultMode = "755"

func (c *creation) uploadFiles(ctx context.Context) error {
	files := slices.SortedFunc(slices.Values(c.spec.Files), func(a, b api.File) int { return strings.Compare(a.Path, b.Path) })
	if len(files) > 0 {
		c.progress(ctx, "uploading files", map[string]any{"id": c.failure.ID, "files": len(files)})
	}
	for _, file := range files {
		agent, err := c.knownAgent(ctx)
		if err != nil {
			return err
		}
		if err := c.uploadTo(ctx, agent, file); err != nil {
			return c.explain(ctx, c.failure.ID, err)
		}
	}
	return nil
}

func (c *creation) setUp(ctx context.Context) error {
	if c.spec.SetupScript == "" {
		return nil
	}
	agent, err := c.knownAgent(ctx)
	if err != nil {
		return err
	}
	c.progress(ctx, "running the setup script", map[string]any{"id": c.failure.ID})
	// An agent of a pool started before anybody asked for this sandbox: its own environment doesn't have the request's.
	return c.runScriptOn(ctx, c.failure.ID, agent, Command{Line: c.spec.SetupScript, Env: c.spec.Request.Env})
}

// pause pauses the sandbox that is usable now, where it is wanted so.
func (c *creation) pause(ctx context.Context) error {
	if !c.spec.Paused {
		return nil
	}
	paused, err := c.Pause(ctx, c.failure.ID)
	if err == nil {
		c.usable.Sandbox = paused
	}
	return err
}

// Upload puts a file into a sandbox, over what stands there; folders on the way are made.
func (l *Lifecycle) Upload(ctx context.Context, id string, file api.File) error {
	agent, err := l.awakeAgent(ctx, id)
	if err != nil {
		return err
	}
	return l.explain(ctx, id, l.uploadTo(ctx, agent, file))
}

// uploadTo may send a file twice: the second time writes the same over the first.
func (l *Lifecycle) uploadTo(ctx context.Context, agent *api.Execd, file api.File) error {
	if file.Mode == "" {
		file.Mode = defaultMode
	}
	err := l.repeat(ctx, func() error { return agent.Upload(ctx, file) })
	if err != nil {
		return fmt.Errorf("uploading %s: %w", file.Path, err)
	}
	return nil
}

// Download reads a file of at most limit bytes; a longer one is an error. apiclient.IsGone tells a file, or a sandbox, that
// isn't there.
func (l *Lifecycle) Download(ctx context.Context, id, path string, limit int64) ([]byte, error) {
	agent, err := l.reachAgent(ctx, id)
	if err != nil {
		return nil, err
	}
	var data []byte
	err = l.repeat(ctx, func() (err error) {
		if data, err = agent.Download(ctx, path, limit); tolerable(err) && isFolder(ctx, agent, path) {
			return &api.AgentError{Asked: "GET /files/download", Reason: path + " is a directory"}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("downloading %s: %w", path, l.explain(ctx, id, err))
	}
	return data, nil
}

// isFolder says whether a download can only break off.
func isFolder(ctx context.Context, agent *api.Execd, path string) bool {
	info, err := agent.FileInfo(ctx, path)
	return err == nil && info.Type == "directory"
}

// FileInfo looks at a file without reading it. apiclient.IsGone tells a file, or a sandbox, that isn't there.
func (l *Lifecycle) FileInfo(ctx context.Context, id, path string) (api.FileInfo, error) {
	agent, err := l.reachAgent(ctx, id)
	if err != nil {
		return api.FileInfo{}, err
	}
	var info api.FileInfo
	err = l.repeat(ctx, func() (err error) {
		info, err = agent.FileInfo(ctx, path)
		return err
	})
	if err != nil {
		return api.FileInfo{}, fmt.Errorf("looking at %s: %w", path, l.explain(ctx, id, err))
	}
	return info, nil
}
