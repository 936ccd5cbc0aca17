package main

import (
	"fmt"
	"strings"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/faults"
)

// help teaches the command to somebody who has never seen it. Its list of flags is made from the flags themselves.
func help() string {
	var flags strings.Builder
	set := (&settings{}).flags()
	set.SetOutput(&flags)
	set.PrintDefaults()
	return fmt.Sprintf(helpText, flags.String(), faults.Syntax)
}

const helpText = `fakeservices serves a fake VM service and a fake OpenSandbox server on this machine.

What is created on them lives in memory: no process is started, no file is touched, nothing costs money, and all of it is
gone when the program ends. Use them to try the providers, and to test infrastructure code with "terraform test".

Usage

  fakeservices [flags]           serve the fakes
  fakeservices check [flags]     check a VM service of your own against the contract; fakeservices check -help tells more

It runs until Ctrl-C or SIGTERM. Once both services listen it prints one line on standard output:

  ready: export GPU_VM_URL=http://127.0.0.1:... GPU_VM_TOKEN=... OPEN_SANDBOX_DOMAIN=127.0.0.1:... OPEN_SANDBOX_API_KEY=...

These are the variables that the providers read. In a script:

  fakeservices > ready.txt &
  until grep -q ready: ready.txt; do sleep 0.1; done
  eval "$(sed 's/^ready: //' ready.txt)"
  terraform apply
  kill %%1

Open GPU_VM_URL in a browser to see what is there. The page links each machine's ports, and its display: the boot log and
the output of the last commands, live.

Flags

%s
Machines that fail

  A VM whose image has "fail-boot" in its name fails to boot; one with "hang-boot" boots for ever. While the program runs:

    curl -X POST   "$GPU_VM_URL/_fake/vms/ID/fail?error=burnt"       this VM fails
    curl -X DELETE "$GPU_VM_URL/_fake/vms/ID"                        somebody else deletes it
    curl -X POST   "$GPU_VM_URL/_fake/fail-boots?n=2&error=no+disk"  the next two fail to boot

Commands on a machine

  A shell that is part of this program runs them on files that exist in memory only. It knows the shell's language and the
  usual small commands (cat, cp, grep, sudo, systemctl ...); those that install or configure a system, such as apt-get,
  succeed and do nothing. Any other command is "not found" (exit 127), as on a machine that lacks it.

Faults

  -fault orders one; it applies to whichever service gets a request that matches:

%s

  The same while the program runs, at either service's address ($GPU_VM_URL here):

    curl -d 'POST /v1/vms status=503 retry-after=2' $GPU_VM_URL/_fake/faults     order (also as JSON)
    curl $GPU_VM_URL/_fake/faults                                                what is still to come
    curl -X DELETE $GPU_VM_URL/_fake/faults                                      forget them, let go what hangs
    curl -X POST $GPU_VM_URL/_fake/release                                       let go what hangs
    curl $GPU_VM_URL/_fake/requests                                              what came in (?limit=n for the last n)
    curl -X DELETE $GPU_VM_URL/_fake/requests                                    forget that, and the faults
    curl $GPU_VM_URL/_fake/vms                                                   the VMs, as JSON

  What is below /_fake/ asks for no token: keep to loopback addresses.
`
