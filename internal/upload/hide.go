package upload

import "github.com/agentenv/terraform-provider-gpuvm/internal/redact"

// Hide gives the error of an upload without what it quotes of the content: some services repeat in an error what came,
// in whole or in part.
func Hide(err error, data []byte) error {
	return &hidden{text: redact.Quotations(err.Error(), string(data)), err: err}
}

type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }

func (h *hidden) Unwrap() error { return h.err }
