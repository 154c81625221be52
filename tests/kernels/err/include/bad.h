int twice(int a) { return a * tow; }
