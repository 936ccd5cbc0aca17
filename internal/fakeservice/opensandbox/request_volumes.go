package opensandbox

// dnsLabel is the pattern of the names of volumes, claims and pools.
const dnsLabel = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`

var (
	volumeName   = []textRule{maxLength(63), pattern(dnsLabel)}
	claimName    = []textRule{maxLength(253), pattern(dnsLabel)}
	mountPath    = []textRule{pattern(`^/.*`)}
	hostPath     = []textRule{pattern(`^(/|[A-Za-z]:[\\/])`)}
	storageSize  = []textRule{pattern(`^\d+(\.\d+)?(Ki|Mi|Gi|Ti|Pi|Ei)?$`)}
	bucketName   = []textRule{minLength(3), maxLength(63)}
	notEmpty     = []textRule{minLength(1)}
	ossfsVersion = []textRule{oneOf("1.0", "2.0")}
)

func oneOf(first, second string) textRule {
	return func(c *checker, loc []any, text string) bool {
		if text == first || text == second {
			return true
		}
		expected := "'" + first + "' or '" + second + "'"
		c.add("literal_error", loc, "Input should be "+expected, text, map[string]any{"expected": expected})
		return false
	}
}

func (c *checker) volumes(object map[string]any) []Volume {
	value, place, found := c.member(object, body, "volumes", false)
	if !found {
		return nil
	}
	items := c.list(value, place, 0)
	var volumes []Volume
	for i, item := range items {
		volumes = append(volumes, c.volume(item, at(place, i)))
	}
	return volumes
}

func (c *checker) volume(value any, place []any) Volume {
	object, ok := c.model(value, place)
	if !ok {
		return Volume{}
	}
	mark := c.mark()
	var v Volume
	backends := 0
	v.Name, _ = c.text(object, place, "name", true, volumeName...)
	if value, place, found := c.member(object, place, "host", false); found {
		backends++
		if host, ok := c.model(value, place); ok {
			v.Host, _ = c.text(host, place, "path", true, hostPath...)
		}
	}
	if value, place, found := c.member(object, place, "pvc", false); found {
		backends++
		v.PVC = c.claim(value, place)
	}
	if value, place, found := c.member(object, place, "ossfs", false); found {
		backends++
		v.OSSFS = c.ossfs(value, place)
	}
	v.MountPath, _ = c.text(object, place, "mountPath", true, mountPath...)
	v.ReadOnly = c.truth(object, place, "readOnly", false)
	v.SubPath, _ = c.text(object, place, "subPath", false)
	if c.ok(mark) && backends != 1 {
		count := "multiple were"
		if backends == 0 {
			count = "none was"
		}
		c.rule(place, object, "Exactly one backend (host, pvc, ossfs) must be specified, but "+count+" provided.")
	}
	return v
}

func (c *checker) claim(value any, place []any) *Claim {
	object, ok := c.model(value, place)
	if !ok {
		return nil
	}
	claim := &Claim{}
	claim.Name, _ = c.text(object, place, "claimName", true, claimName...)
	claim.CreateIfNotExists = c.truth(object, place, "createIfNotExists", true)
	claim.DeleteOnSandboxTermination = c.truth(object, place, "deleteOnSandboxTermination", false)
	claim.StorageClass, _ = c.text(object, place, "storageClass", false)
	claim.Storage, _ = c.text(object, place, "storage", false, storageSize...)
	claim.AccessModes = c.textList(object, place, "accessModes", false, 0)
	return claim
}

func (c *checker) ossfs(value any, place []any) *OSSFS {
	object, ok := c.model(value, place)
	if !ok {
		return nil
	}
	mark := c.mark()
	mount := &OSSFS{Version: "2.0"}
	mount.Bucket, _ = c.text(object, place, "bucket", true, bucketName...)
	mount.Endpoint, _ = c.text(object, place, "endpoint", true, notEmpty...)
	if version, given := c.text(object, place, "version", false, ossfsVersion...); given {
		mount.Version = version
	}
	mount.Options = c.textList(object, place, "options", false, 0)
	mount.AccessKeyID, _ = c.text(object, place, "accessKeyId", false, notEmpty...)
	secret, _ := c.text(object, place, "accessKeySecret", false, notEmpty...)
	mount.AccessKeySecret = Secret{secret}
	if c.ok(mark) && (mount.AccessKeyID == "" || secret == "") {
		c.rule(place, object, "OSSFS inline credentials are required: accessKeyId and accessKeySecret.")
	}
	return mount
}
