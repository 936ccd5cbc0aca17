package apiclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"
)

func pemOf(der []byte, kind string) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// authority signs certificates in a test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.certificate, a.key = a.sign(t, &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)})
	return a
}

func (a *authority) sign(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: "test"}
	template.NotBefore = time.Now().Add(-2 * time.Hour)
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

func (a *authority) pem() string { return pemOf(a.certificate.Raw, "CERTIFICATE") }

// serveTLS starts a server with a certificate that the authority signs.
func (a *authority) serveTLS(t *testing.T, template *x509.Certificate, settings *tls.Config) *httptest.Server {
	t.Helper()
	certificate, key := a.sign(t, template)
	settings.Certificates = []tls.Certificate{{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshakes that are to fail
	s.TLS = settings
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func loopback(valid time.Duration) *x509.Certificate {
	return &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(valid)}
}

func TestCertificatesOfTheService(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	for name, c := range map[string]struct {
		template *x509.Certificate
		ca       string
		want     string // "" = works
	}{
		"known CA":   {loopback(time.Hour), theirs.pem() + ours.pem(), ""},
		"unknown CA": {loopback(time.Hour), theirs.pem(), "set ca_certificate"},
		"no CA":      {loopback(time.Hour), "", "set ca_certificate"},
		"wrong name": {&x509.Certificate{DNSNames: []string{"vm.example"}, NotAfter: time.Now().Add(time.Hour)}, ours.pem(), "for another name; check the host in the configured address"},
		"expired":    {loopback(-time.Hour), ours.pem(), "must be renewed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := testConfig(ours.serveTLS(t, c.template, &tls.Config{MinVersion: tls.VersionTLS12}).URL)
			config.CACertificate = c.ca
			_, err := must(t, config).Do(t.Context(), post("x"), nil)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := asError(t, err)
			if e.Attempts != 1 || e.Open() || IsTransient(e) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "POST /x: not sent: tls: ") {
				t.Errorf("%d attempts: %v", e.Attempts, err)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(ca.certificate)
	certificate, key := ca.sign(t, &x509.Certificate{NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for version, name := range map[uint16]string{tls.VersionTLS12: "TLS 1.2", tls.VersionTLS13: "TLS 1.3"} {
		for _, protocol := range []string{"http/1.1", "h2"} {
			s := ca.serveTLS(t, loopback(time.Hour), &tls.Config{
				ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: version, MaxVersion: version, NextProtos: []string{protocol},
			})
			s.EnableHTTP2 = true
			config := testConfig(s.URL)
			config.CACertificate = ca.pem()
			_, err := must(t, config).Do(t.Context(), post("x"), nil)
			// In TLS 1.3 the refusal comes after the handshake, and a reset on its heels may wipe it out: then nobody can know what was read.
			told := strings.Contains(err.Error(), "POST /x: not sent: ") && strings.Contains(err.Error(), "set client_certificate and client_key")
			if e := asError(t, err); told == e.Open() && !strings.Contains(err.Error(), "http2: client conn") || version == tls.VersionTLS12 && !told {
				t.Errorf("%s, %s, without: %v", name, protocol, err)
			}
			config.ClientCertificate, config.ClientKey = pemOf(certificate.Raw, "CERTIFICATE"), pemOf(der, "EC PRIVATE KEY")
			if protocol == "h2" {
				continue // httptest serves it no further than the handshake this way
			}
			if _, err := must(t, config).Do(t.Context(), post("x"), nil); err != nil {
				t.Errorf("%s, %s, with: %v", name, protocol, err)
			}
		}
	}
}

// In TLS 1.3 a service refuses the client's certificate after the client has written its request, but before it reads any.
func TestLateRefusalOfTheHandshakeLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	written := make(chan struct{})
	ca := newAuthority(t)
	s := ca.serveTLS(t, loopback(time.Hour), &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert,
		VerifyConnection: func(tls.ConnectionState) error {
			<-written
			return errors.New("a certificate is needed")
		},
	})
	config := testConfig(s.URL)
	config.CACertificate = ca.pem()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(written) }})
	_, err := must(t, config).Do(ctx, post("x"), nil)
	if e := asError(t, err); e.Open() || e.Attempts != 1 || !strings.Contains(err.Error(), "set client_certificate") {
		t.Error(err)
	}
}

func TestSchemeMixedUp(t *testing.T) {
	t.Parallel()
	plain := serve(t, false, func(http.ResponseWriter, *http.Request, int) {})
	e := failing(t, must(t, testConfig(strings.Replace(plain.URL, "http://", "https://", 1))), post("x"))
	if e.Attempts != 1 || e.Open() || !strings.Contains(e.Error(), "does not speak TLS") {
		t.Error(e)
	}
	secure := serve(t, true, func(http.ResponseWriter, *http.Request, int) {})
	e = failing(t, must(t, testConfig(strings.Replace(secure.URL, "https://", "http://", 1))), post("x"))
	if e.Status != 400 || e.Open() || !strings.Contains(e.Error(), "HTTP request to an HTTPS server") {
		t.Error(e)
	}
}

func TestHTTP2WhereTheServerHasIt(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, http2 bool) {
		s := serve(t, http2, func(http.ResponseWriter, *http.Request, int) {})
		warm(t, clientOf(t, s))
		if got := s.last().ProtoMajor == 2; got != http2 {
			t.Errorf("HTTP/2: %v", got)
		}
	})
}
