CREATE TABLE `people` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `people_name_unique` ON `people` (`name`);--> statement-breakpoint
CREATE TABLE `pets` (
	`id` integer PRIMARY KEY NOT NULL,
	`owner` integer NOT NULL,
	FOREIGN KEY (`owner`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE no action
);
