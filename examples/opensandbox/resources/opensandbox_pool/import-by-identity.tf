import {
  to = opensandbox_pool.python
  identity = {
    id = "python"
  }
}
