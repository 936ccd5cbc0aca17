package subject

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// secretSettings are the sensitive connection settings that both provider blocks have.
func secretSettings() map[string]any {
	certificate, key := clientPair()
	return map[string]any{
		"headers":            map[string]any{"X-Gateway": "canary-header-2b9c"},
		"client_certificate": certificate,
		"client_key":         key,
	}
}

// clientPair makes a certificate and its key, in PEM.
func clientPair() (certificate, key string) {
	public, private, err := ed25519.GenerateKey(rand.Reader) // its PEM holds nothing that the certificate's holds, too
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		panic(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}
