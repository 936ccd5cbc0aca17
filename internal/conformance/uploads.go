package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

func uploads() []step {
	return []step{
		{
			name: stepPut, contract: filesContract, ready: running,
			do: func(ctx context.Context, r *run) outcome {
				r.firstPut = r.put(ctx, r.folder()+"/new/folder/file", []byte("first line\nlast line"))
				return wantStatus(r.firstPut, 204)
			},
		},
		{
			name: stepSeen, contract: filesContract, ready: uploaded,
			do: func(ctx context.Context, r *run) outcome {
				return r.exec(ctx, "cat", r.folder()+"/new/folder/file").want(0, "first line\nlast line", "")
			},
		},
		{
			name: "files: an older file is replaced", contract: filesContract, ready: after(stepSeen),
			do: func(ctx context.Context, r *run) outcome {
				return r.putAndRead(ctx, r.folder()+"/new/folder/file", "short")
			},
		},
		{
			name: "files: an empty file", contract: filesContract, ready: after(stepSeen),
			do: func(ctx context.Context, r *run) outcome {
				return r.putAndRead(ctx, r.folder()+"/empty", "")
			},
		},
		{
			name: "files: an odd path", contract: filesContract, ready: after(stepSeen),
			do: func(ctx context.Context, r *run) outcome {
				return r.putAndRead(ctx, r.folder()+"/a b+c&d=e%20f#ü", "odd")
			},
		},
		{
			name: "files: every byte", contract: filesContract, ready: after(stepSeen),
			do: checkEveryByte,
		},
	}
}

// uploaded lets through what can be seen even where PUT answers with another success than 204.
func uploaded(r *run) string {
	if r.verdicts[stepOutput] != OK {
		return "see " + stepOutput
	}
	if r.firstPut == nil || !r.firstPut.ok() {
		return "see " + stepPut
	}
	return ""
}

func (r *run) putAndRead(ctx context.Context, path, content string) outcome {
	if x := r.put(ctx, path, []byte(content)); !x.ok() {
		return fail(x, "no 204")
	}
	return r.exec(ctx, "cat", path).want(0, content, "")
}

// checkEveryByte compares hashes: bytes that aren't text can't stand in a JSON answer.
func checkEveryByte(ctx context.Context, r *run) outcome {
	data, path := everyByte(), r.folder()+"/bytes"
	if x := r.put(ctx, path, data); !x.ok() {
		return fail(x, "no 204")
	}
	sum := sha256.Sum256(data)
	return r.exec(ctx, "sh", "-c", "sha256sum < "+path+" | cut -c 1-64").want(0, hex.EncodeToString(sum[:])+"\n", "")
}
