terraform import opensandbox_snapshot.prepared 9a1c6a5e-1f60-4d0b-8c2e-4a7f3f0e9b21
