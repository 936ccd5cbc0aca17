package apiclient

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"time"
)

const (
	// maxIdleConnections to one host: Terraform's -parallelism is 10 by default, 50 on large fleets, and each of them asks in turn.
	maxIdleConnections = 128
	// maxAnswerHeader in bytes; net/http would take 10 MiB of it.
	maxAnswerHeader = 256 << 10
	connectTimeout  = 10 * time.Second
)

// newTransport never decompresses: an answer's bound would be one on what it takes on the wire, not in memory, and both services are near.
func newTransport(config Config, dial Dialer) (*http.Transport, error) {
	settings, err := tlsSettings(config)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dial,
		TLSClientConfig:        settings,
		TLSHandshakeTimeout:    connectTimeout,
		MaxIdleConns:           4 * maxIdleConnections, // each sandbox is a host of its own
		MaxIdleConnsPerHost:    maxIdleConnections,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxAnswerHeader,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		// A long exec over HTTP/2 says nothing for hours; pings notice a dead connection, as TCP's keep-alive does for HTTP/1.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}, nil
}

// proxy keeps the text of a broken proxy variable, which may hold a password, out of the error.
func proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, &final{err: errors.New("the proxy variable (HTTP_PROXY, HTTPS_PROXY) is not a valid URL")}
	}
	return u, nil
}

func tlsSettings(config Config) (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if config.CACertificate != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if err := addCertificates(roots, []byte(config.CACertificate)); err != nil {
			return nil, &ConfigError{"ca_certificate", err}
		}
		settings.RootCAs = roots
	}
	switch {
	case config.ClientCertificate == "" && config.ClientKey == "":
		return settings, nil
	case config.ClientKey == "":
		return nil, &ConfigError{"client_key", errors.New("is missing, client_certificate needs it")}
	case config.ClientCertificate == "":
		return nil, &ConfigError{"client_certificate", errors.New("is missing, client_key needs it")}
	}
	pair, err := tls.X509KeyPair([]byte(config.ClientCertificate), []byte(config.ClientKey))
	if err != nil {
		return nil, &ConfigError{"client_certificate", err}
	}
	settings.Certificates = []tls.Certificate{pair}
	return settings, nil
}

// addCertificates is AppendCertsFromPEM, but names what is wrong instead of passing over it.
func addCertificates(pool *x509.CertPool, text []byte) error {
	found := false
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err
		}
		pool.AddCert(certificate)
		found = true
	}
	if !found {
		return errors.New("no PEM certificate found")
	}
	return nil
}
