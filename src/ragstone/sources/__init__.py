"""Sources: every format of benchmark or corpus that can be read. `ragstone.load` finds the right one."""
