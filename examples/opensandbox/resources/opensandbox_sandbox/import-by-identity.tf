import {
  to = opensandbox_sandbox.worker
  identity = {
    id = "3f0c9c1e-6a1b-4a57-9d0e-6a0a4a1b2c3d"
  }
}
