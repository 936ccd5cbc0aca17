terraform import opensandbox_pool.python python
