"""What the speed page is made of: `make bench`. Nothing here is part of the tests or a package."""
