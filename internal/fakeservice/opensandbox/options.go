package opensandbox

import (
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// Options say which OpenSandbox server the fake is. The zero value is a Docker server of the mirror's generation, without
// authentication, that does everything at once.
//
// Names of images, of an entrypoint's program and of files' owners that hold no-such, nosuch, does-not-exist or nonexistent stand for
// what doesn't exist.
type Options struct {
	APIKey string      // "" = no authentication, as a server without api_key
	Clock  clock.Clock // nil = clock.System()
	Seed   int64       // ids and tokens repeat for the same seed; 0 = other ones in each process
	URL    string      // base of the endpoints' addresses ("http://host:port"); "" = the host that a request names

	Kubernetes bool // the Kubernetes manner instead of Docker's
	Newer      bool // the generation after the mirror: resourceRequests, lifecycle, allocation, extensions echoed, 429, quota as 403
	Async      bool // create answers Pending at once and works on, as the specification has it and some deployments do

	Images           map[string]Image // by the name asked for; any other image exists and is called by its name
	MaxTimeout       int              // seconds; a longer timeout of a create is refused; 0 = no limit
	NoEgress         bool             // the server has no egress image: networkPolicy is refused
	EgressMode       string           // "dns" (when empty) or "dns+nft"
	AllowedHostPaths []string         // prefixes that host volumes may lie under; nil = all
	ExistingVolumes  []string         // claims that exist before any sandbox asks for them
	NoSnapshots      bool             // snapshots answer 501
	NoDiagnostics    bool             // the plain-text diagnostics answer 501, as the stable ones (?scope=) always do
	ExecdToken       string           // X-EXECD-ACCESS-TOKEN that execd asks for; "" = none
	ProxyAuth        bool             // the server-proxy route asks for the API key too, as deployments behind a gateway do
	ExtraLabels      map[string]string
	Ingress          Ingress // how a Kubernetes server exposes its sandboxes

	// How long things take, by Clock.
	PullDelay     time.Duration // of an image: create blocks that long
	ReadyDelay    time.Duration // Kubernetes: from create to a pod with an address; create blocks that long too
	CreateTimeout time.Duration // Kubernetes: create gives up after that long with 504; 0 = 60 s
	AllocatedFor  time.Duration // Kubernetes: GET says Allocated for that long after create has answered Running
	ExecdDelay    time.Duration // execd answers only that long after the sandbox runs
	ExitDelay     time.Duration // an entrypoint that ends is seen as ended that long after create
	PauseDelay    time.Duration // Kubernetes: Pausing
	ResumeDelay   time.Duration // Kubernetes: Resuming
	DeleteDelay   time.Duration // Docker: DELETE blocks that long. Kubernetes: GET answers 200 that long after the 204
	SnapshotDelay time.Duration // Creating
	PoolDelay     time.Duration // a pool has no status for that long
	ListLag       time.Duration // a sandbox shows up in lists only that long after it was made
	StreamLinger  time.Duration // execd holds a command's stream open that long after its last event (the real one: 1 s)

	// What the server bears.
	MaxSandboxes  int           // quota; 0 = 20,000
	RateLimit     int           // requests a RateWindow that are served, the rest are 429 with Retry-After; 0 = no limit
	RateWindow    time.Duration // 0 = 1 s
	MaxConcurrent int           // requests at once, the rest are 503; 0 = no limit
}

// Image is what the runtime knows of an image.
type Image struct {
	FirstTag  string            // what GET calls it; "" = the name asked for, completed as Docker does
	Labels    map[string]string // Docker adds them to the sandbox's metadata
	PullError string            // not "": it can't be pulled
	NoShell   bool              // commands never start
	Files     map[string]string // path to content
}

// Ingress is how a Kubernetes server exposes its sandboxes.
type Ingress string

// The ways that the server's ingress configuration knows.
const (
	IngressDirect   Ingress = ""         // podIP:port
	IngressURI      Ingress = "uri"      // {gateway}/{id}/{port}
	IngressHeader   Ingress = "header"   // {gateway} and a header that names the sandbox
	IngressWildcard Ingress = "wildcard" // {id}-{port}.{gateway}
)

// GatewayDomain is the domain of IngressWildcard; the fake's own port follows it in endpoints.
const GatewayDomain = "sandbox.localhost"

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	if o.CreateTimeout == 0 {
		o.CreateTimeout = time.Minute
	}
	if o.RateWindow == 0 {
		o.RateWindow = time.Second
	}
	if o.MaxSandboxes == 0 {
		o.MaxSandboxes = 20_000
	}
	if o.EgressMode == "" {
		o.EgressMode = "dns"
	}
	if o.ExtraLabels == nil && o.Kubernetes {
		o.ExtraLabels = map[string]string{"sandbox.opensandbox.io/template": "default"}
	}
	return o
}
