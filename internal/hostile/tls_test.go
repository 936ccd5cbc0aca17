package hostile_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/subject"
	core "github.com/agentenv/terraform-provider-gpuvm/internal/terraformcore"
)

// authority signs certificates for test services.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.certificate, a.key = sign(t, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotAfter: time.Now().Add(time.Hour),
	})
	a.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}))
	return a
}

func sign(t *testing.T, by *authority, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.certificate, by.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return signed, key
}

// TestCertificatesThatDoNotHold: no request is sent over a connection that isn't trusted, and the error says what to set.
func TestCertificatesThatDoNotHold(t *testing.T) {
	t.Parallel()
	trusted, other := newAuthority(t), newAuthority(t)
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	for name, c := range map[string]struct {
		by       *authority
		template x509.Certificate
		says     string // "" is a success
	}{
		"trusted":    {trusted, x509.Certificate{IPAddresses: loopback, NotAfter: time.Now().Add(time.Hour)}, ""},
		"unknown CA": {other, x509.Certificate{IPAddresses: loopback, NotAfter: time.Now().Add(time.Hour)}, "set ca_certificate"},
		"wrong name": {trusted, x509.Certificate{DNSNames: []string{"elsewhere.example"}, NotAfter: time.Now().Add(time.Hour)}, "the service's certificate is for another name"},
		"expired":    {trusted, x509.Certificate{IPAddresses: loopback, NotAfter: time.Now().Add(-time.Hour)}, "must be renewed"},
	} {
		for _, of := range []*subject.Type{subject.GPUVMInstance, subject.OpenSandboxSandbox} {
			t.Run(name+"/"+of.Name, func(t *testing.T) {
				t.Parallel()
				template := c.template
				template.Subject = pkix.Name{CommonName: "service"}
				certificate, key := sign(t, c.by, &template)
				out, service := over(t, of, &tls.Config{
					MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}},
				}, trusted.pem)
				switch {
				case c.says == "" && out.Failed():
					t.Errorf("%s", out)
				case c.says == "":
				case !out.Failed() || !strings.Contains(out.String(), c.says):
					t.Errorf("it doesn't say %q: %s", c.says, out)
				case len(service.Faults().Requests()) > 0:
					t.Errorf("%d requests were sent over it", len(service.Faults().Requests()))
				}
			})
		}
	}
}

// TestTLSWhereThereIsNone: plain HTTP behind an https address.
func TestTLSWhereThereIsNone(t *testing.T) {
	t.Parallel()
	for _, of := range []*subject.Type{subject.GPUVMInstance, subject.OpenSandboxSandbox} {
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			if out, _ := over(t, of, nil, ""); !out.Failed() || !strings.Contains(out.String(), "does not speak TLS there") {
				t.Errorf("%s", out)
			}
		})
	}
}

// over makes an object over a real connection to a service with these TLS settings; nil serves without TLS.
func over(t *testing.T, of *subject.Type, settings *tls.Config, trust string) (core.Outcome, subject.Service) {
	t.Helper()
	schemas, err := of.Served(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	service := of.Start(map[string]bool{"knows-keys": true})
	t.Cleanup(service.Close)
	server := httptest.NewUnstartedServer(service)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
	address := "https://" + server.Listener.Addr().String()
	if server.TLS = settings; settings == nil {
		server.Start()
	} else {
		server.StartTLS()
	}
	t.Cleanup(server.Close)

	block := service.Settings()
	for _, name := range []string{"base_url", "domain"} {
		if _, ok := block[name]; ok {
			block[name] = address
		}
	}
	if trust != "" {
		block["ca_certificate"] = trust
	}
	p := core.Start(of.Server(), schemas)
	if configured := p.Configure(t.Context(), block); configured.Failed() {
		t.Fatal(configured)
	}
	return p.Up(t.Context(), of.Name, nil, of.Smallest, of.Smallest), service
}
