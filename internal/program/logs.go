package program

import (
	"os"
	"strings"
)

// quietLogs keeps the plugin libraries from writing TRACE lines that nobody asked for: they write them even with TF_LOG
// unset, for Terraform to throw away, which takes half of the time of a large apply.
func quietLogs(provider string) {
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "TF_LOG") && name != "TF_LOG_PATH" && value != "" {
			return
		}
	}
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_PROVIDER_" + strings.ToUpper(provider)} {
		_ = os.Setenv(name, "WARN")
	}
}
